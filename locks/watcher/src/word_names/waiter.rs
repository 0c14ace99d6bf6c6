//! What a thread waits for, by the functions on its stack.
//!
//! Each function is looked up by its name in tables, a file for each family of libraries. A row says
//! that it waits, for what, or that it is part of a library and means nothing by itself.
//!
//! **Which row wins.** The frames are read from the innermost outwards, as long as they belong to
//! libraries that synchronize. The first that does not is the program's own, and what lies outside it
//! has nothing to do with this wait: a callback that waits for a mutex does not wait for whatever
//! called it. Of the frames before, the outermost row wins, because libraries build their locks upon
//! simpler ones. `take_gil` calls `pthread_cond_timedwait`, and what matters is the former. There are
//! two exceptions:
//!
//! * A *decisive* row ends the search. Go's `runtime.lock2` takes a lock of the runtime, whoever
//!   needs it. A Python thread that comes back from `lock.acquire` has that lock and waits in
//!   `take_gil`.
//! * Having no work does not replace a lock. The loop of a worker is the outermost frame of all that
//!   it does, and the work between may be inlined into it. But *vague* rows, such as those of the
//!   functions that park threads for whatever reason, are replaced by any other.

mod c_library;
mod cpp;
mod databases;
mod files;
mod go;
mod jvm;
mod kind;
mod node;
mod openmp;
mod plain;
mod python;
mod rust;
mod rust_crates;
mod spinning;
mod table;

use kilocore_lock_profile::Frame;

use files::{base, is_library};
pub use kind::WaitKind;
use plain::plain;
use table::{FunctionMeaning, Table, WaitingFunction};

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiter {
    /// The kind of thing.
    pub kind: WaitKind,
    /// What its users call it.
    pub what: &'static str,
    /// Whether the word that the thread sleeps on is its own parking place and not the lock.
    pub parks: bool,
    /// Which of the frames is the first of the program's own; what it called, if none of these is known.
    pub own: usize,
}

/// Returns which of the frames is the first that belongs to no library; the number of frames if
/// all do.
#[must_use]
pub fn own_frame(frames: &[Frame]) -> usize {
    (0..frames.len())
        .find(|from| meaning_of_first(&frames[*from..]).is_none())
        .unwrap_or(frames.len())
}

/// Tells from the frames of a waiting thread, the innermost first, what it waits for.
#[must_use]
pub fn waiter(frames: &[Frame]) -> Option<Waiter> {
    let own = own_frame(frames);
    let (inside, outside) = frames.split_at(own);
    let found = outermost(inside);
    let gil = python::unnamed_gil(found.map(|found| found.row.kind), frames);
    let (at, kind, what, parks) = match (gil, found) {
        (Some((caller, kind, what)), _) => (caller, kind, what, true),
        (None, Some(Found { at, row, parks })) => (at, row.kind, row.what, parks),
        (None, None) => {
            let (kind, what) = openmp::unnamed(inside, outside)?;
            (0, kind, what, false)
        }
    };
    // Where nothing of the program's own can be seen, what it called is nearest to that.
    let own = if own == frames.len() { at } else { own };
    Some(Waiter { kind, what, parks, own })
}

/// Tells from the frames of a spinning thread, the innermost first, for a lock of which kind it spins, if that is sure.
#[must_use]
pub(crate) fn lock_spun_for(frames: &[Frame]) -> Option<&'static str> {
    let (inside, _) = frames.split_at(own_frame(frames));
    let row = outermost(inside)?.row;
    let is_lock = matches!(row.kind, WaitKind::Mutex | WaitKind::Spin);
    (is_lock && !row.is_vague).then_some(row.what)
}

/// A row that fits a frame.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Which frame it is.
    at: usize,
    row: WaitingFunction,
    /// Whether this or a function inside parks the thread on a word of its own.
    parks: bool,
}

/// The row that counts, of the frames inside the program's own.
fn outermost(inside: &[Frame]) -> Option<Found> {
    let mut found: Option<Found> = None;
    let mut parks = false;
    for (at, frame) in inside.iter().enumerate() {
        let Some(FunctionMeaning::Waits(row)) = meaning(frame) else { continue };
        match &mut found {
            Some(found) if found.row.decides => {
                // Functions of one lock call one another. The outermost is the one that was called.
                if found.row.what == row.what {
                    found.at = at;
                }
            }
            Some(found) if !replaces(&row, found.row) => {
                parks |= row.parks;
                found.parks = parks;
            }
            _ => {
                parks |= row.parks;
                found = Some(Found { at, row, parks });
            }
        }
    }
    found
}

/// Whether a row of an outer frame says more than that of an inner one.
fn replaces(outer: &WaitingFunction, inner: WaitingFunction) -> bool {
    let is_background = outer.kind == WaitKind::Idle || outer.is_vague;
    inner.is_vague || !(is_background && inner.kind.stops_work())
}

/// What the first of these frames means, or nothing if it is of the user's program.
fn meaning_of_first(frames: &[Frame]) -> Option<FunctionMeaning> {
    let first = frames.first()?;
    // Code without a name that is of no file is beside what a virtual machine has generated.
    let is_generated = first.function.is_empty() && first.module.is_empty();
    meaning(first)
        .or_else(|| between(frames))
        .or_else(|| is_generated.then_some(FunctionMeaning::Library))
}

/// What a frame means by itself, or nothing if it is of the user's program.
fn meaning(frame: &Frame) -> Option<FunctionMeaning> {
    let base = base(&frame.module);
    let by_name = || {
        let plain = plain(&frame.function);
        let tables = TABLES.iter().filter(|table| table.is_for(base));
        table::find(tables, &frame.function, &plain)
    };
    let by_name = if frame.function.is_empty() { None } else { by_name() };
    by_name.or_else(|| is_library(base).then_some(FunctionMeaning::Library))
}

/// What the first of these frames means if it has no name, but lies between functions of one
/// library. A program without a symbol table still names the functions that others may call. What is
/// called by a function that waits, in the same file, is a part of it.
fn between(frames: &[Frame]) -> Option<FunctionMeaning> {
    const UNNAMED: usize = 2;
    let (first, outer) = frames.split_first().filter(|(first, _)| first.function.is_empty())?;
    let is_near = |frame: &&Frame| frame.module == first.module;
    let mut near = outer.iter().take(UNNAMED).take_while(is_near);
    let named = near.find(|frame| !frame.function.is_empty())?;
    matches!(meaning(named), Some(FunctionMeaning::Waits(_))).then_some(FunctionMeaning::Library)
}

/// All tables. The first row that waits counts, and only then one that is just part of a library:
/// the libraries' names begin alike.
const TABLES: &[Table] = &[
    Table::of_all(c_library::TABLE),
    Table::of_all(cpp::TABLE),
    Table::of_all(rust::TABLE),
    Table::of_all(rust_crates::TABLE),
    Table::of_all(go::TABLE),
    Table::of(&["libjvm.so", ""], jvm::TABLE),
    Table::of(&["libjli.so"], jvm::LAUNCHER),
    Table::of_all(python::TABLE),
    Table::of_all(node::TABLE),
    Table::of_all(openmp::TABLE),
    Table::of(&["postgres"], databases::POSTGRESQL),
    Table::of(&["mysqld", "mariadbd", "ha_"], databases::MYSQL),
    Table::of_all(databases::OTHERS),
    Table::of_all(spinning::TABLE),
];

#[cfg(test)]
mod tests;
