//! The lines that move between cores, and who needs them.
//!
//! When a line has come, its core uses it for what made it come, and then often for other bytes of it, which others may
//! write. So after a move a thread is looked at for its next few uses of the line. Of a line that moves often, these are
//! samples.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::{LineUse, MovedLine, UseKind};
use kilocore_platform::Cycles;

use crate::machine;

/// Lines that are remembered. If there are more, those that moved least are forgotten.
const MOST_LINES: usize = 1 << 16;
/// Uses of a line that are remembered, the first ones.
const MOST_USES: usize = 64;
/// Lines that are reported.
const MOST_REPORTED: usize = 64;
/// The numbers of threads that are told apart.
const THREADS: u32 = 128;

/// After the first so many moves of a line, its uses are looked at each time.
const ALL_MOVES: u64 = 64;
/// Uses that are looked at after a move.
const LOOKED_AT: u64 = 8;

/// The first byte of the line that is looked at, an odd number if it is none, and by which thread's uses.
static WATCHED: AtomicU64 = AtomicU64::new(1);
static WATCHER: AtomicU64 = AtomicU64::new(0);
/// How many more uses are looked at.
static LEFT: AtomicU64 = AtomicU64::new(0);
/// The bytes of a line.
static SIZE: AtomicU64 = AtomicU64::new(1);

/// By the addresses of their first bytes.
static LINES: Mutex<Option<HashMap<u64, Line>>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Line {
    moves: u64,
    waited: u64,
    uses: Vec<Use>,
}

#[derive(Debug)]
struct Use {
    code: u64,
    offset: u32,
    bytes: u32,
    kind: UseKind,
    moves: u64,
    waited: u64,
    hits: u64,
    threads: u128,
    last: u32,
    changes: u64,
}

/// A use of some bytes by an instruction of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) thread: u32,
    pub(crate) code: u64,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: UseKind,
}

/// A thread needed bytes of a line that another core had, and waited for it.
pub(crate) fn moved(used: Used, waited: Cycles) {
    let size = machine::line_bytes();
    let first = used.address - used.address % size;
    let mut lines = lines();
    let lines = lines.get_or_insert_default();
    if lines.len() >= MOST_LINES && !lines.contains_key(&first) {
        forget_some(lines);
    }
    let line = lines.entry(first).or_default();
    line.moves += 1;
    line.waited += waited.0;
    let is_looked_at = line.moves <= ALL_MOVES || is_chosen(line.moves);
    if let Some(one) = line.use_of(used, size) {
        one.moves += 1;
        one.waited += waited.0;
        one.changes += u64::from(one.last != used.thread);
        one.last = used.thread;
    }
    SIZE.store(size, Ordering::Relaxed);
    WATCHER.store(used.thread.into(), Ordering::Relaxed);
    LEFT.store(LOOKED_AT, Ordering::Relaxed);
    WATCHED.store(if is_looked_at { first } else { 1 }, Ordering::Relaxed);
}

/// Whether it is one of those moves that are looked at: one in [`LineUse::ONE_OF`], and none that come in turn, as a line's
/// moves often do.
fn is_chosen(number: u64) -> bool {
    // The golden ratio: its multiples are spread evenly, and keep step with nothing.
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) < u64::MAX / LineUse::ONE_OF
}

/// Whether a use of this address is to be [told](hit), though its core has the line.
#[inline(always)]
pub(crate) fn is_looked_at(address: u64) -> bool {
    (address ^ WATCHED.load(Ordering::Relaxed)) < SIZE.load(Ordering::Relaxed)
}

/// A thread used bytes of a line that its core has.
#[cold]
pub(crate) fn hit(used: Used) {
    let first = WATCHED.load(Ordering::Relaxed);
    if u64::from(used.thread) != WATCHER.load(Ordering::Relaxed) {
        return;
    }
    if LEFT.fetch_sub(1, Ordering::Relaxed) <= 1 {
        WATCHED.store(1, Ordering::Relaxed);
    }
    let mut lines = lines();
    let line = lines.as_mut().and_then(|lines| lines.get_mut(&first));
    if let Some(one) = line.and_then(|line| line.use_of(used, machine::line_bytes())) {
        one.hits += 1;
    }
}

fn lines() -> MutexGuard<'static, Option<HashMap<u64, Line>>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    /// What is known of such uses, unless there are too many others.
    fn use_of(&mut self, used: Used, size: u64) -> Option<&mut Use> {
        let Used { thread, code, address, bytes, kind } = used;
        let offset = (address % size) as u32;
        let found = self.uses.iter().position(|one| one.code == code && one.offset == offset);
        let at = match found {
            Some(at) => at,
            None if self.uses.len() == MOST_USES => return None,
            None => {
                self.uses.push(Use {
                    code,
                    offset,
                    bytes: bytes as u32,
                    kind,
                    moves: 0,
                    waited: 0,
                    hits: 0,
                    threads: 0,
                    last: thread,
                    changes: 0,
                });
                self.uses.len() - 1
            }
        };
        let one = &mut self.uses[at];
        one.threads |= 1 << (thread % THREADS);
        Some(one)
    }
}

/// No line has moved yet.
pub(crate) fn forget() {
    *lines() = None;
}

/// Forgets the half of the lines that moved least.
fn forget_some(lines: &mut HashMap<u64, Line>) {
    let mut moves: Vec<(u64, u64)> =
        lines.iter().map(|(address, line)| (line.moves, *address)).collect();
    let (_, middle, _) = moves.select_nth_unstable(lines.len() / 2);
    let middle = *middle;
    lines.retain(|address, line| (line.moves, *address) > middle);
}

/// The lines that took most time, the most first.
pub(crate) fn dearest() -> Vec<MovedLine> {
    let mut lines = lines();
    let lines = lines.get_or_insert_default();
    let mut dearest: Vec<(&u64, &Line)> = lines.iter().collect();
    dearest.sort_by_key(|(address, line)| (std::cmp::Reverse(line.waited), **address));
    dearest.truncate(MOST_REPORTED);
    let of = |(address, line): (&u64, &Line)| {
        let mut uses: Vec<LineUse> = line.uses.iter().map(Use::reported).collect();
        uses.sort_by_key(|one| (std::cmp::Reverse(one.moves), one.code, one.offset));
        let waited_ns = machine::ns(Cycles(line.waited));
        MovedLine { address: *address, moves: line.moves, waited_ns, uses }
    };
    dearest.into_iter().map(of).collect()
}

impl Use {
    fn reported(&self) -> LineUse {
        LineUse {
            code: self.code,
            offset: self.offset,
            bytes: self.bytes,
            access: self.kind,
            moves: self.moves,
            waited_ns: machine::ns(Cycles(self.waited)),
            hits: self.hits,
            threads: [self.threads as u64, (self.threads >> 64) as u64],
            changes: self.changes,
        }
    }
}
