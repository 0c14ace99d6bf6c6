//! An error planted into the shipped source, at run time: a check that does not notice it proves
//! nothing.
//!
//! An operation on an [`Altered`](crate::Altered) platform knows from where it is called. So one call
//! of the source, named by its text, can be made to go wrong while a check runs, and all the rest is
//! what ships.

use std::cell::RefCell;
use std::panic::Location;

use kilocore_platform::Ordering;

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// It changes nothing.
    Lost,
    /// It looks and writes in two steps, between which others come. Only for exchanges.
    InTwoSteps,
    /// Its first ordering is this one.
    Weakened(Ordering),
}

/// A file of the shipped source.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// As the compiler names it.
    pub file: &'static str,
    /// What is in it.
    pub text: &'static str,
}

#[derive(Debug)]
struct Planted {
    file: &'static str,
    line: usize,
    column: usize,
    error: Error,
}

thread_local! {
    // A checker runs all its threads on one thread of the operating system.
    static PLANTED: RefCell<Option<Planted>> = const { RefCell::new(None) };
}

/// Takes the error away again, also when the check has failed, as it should.
struct Weed;

impl Drop for Weed {
    fn drop(&mut self) {
        PLANTED.set(None);
    }
}

/// Runs `check` with an error in the call that `source` has with the text `call`, from the operation's
/// name on, as in `store(node, Ordering::Release)`.
///
/// # Panics
/// Unless the text is there once.
pub fn plant<R>(source: Source, call: &str, error: Error, check: impl FnOnce() -> R) -> R {
    let Source { file, text } = source;
    let count = text.matches(call).count();
    assert_eq!(count, 1, "{file} has {call} {count} times");
    let before = &text[..text.find(call).expect("it is there")];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    PLANTED.set(Some(Planted { file, line, column, error }));
    let _weed = Weed;
    check()
}

/// The error of the call at `place`, if there is one.
pub(crate) fn error(place: &Location<'_>) -> Option<Error> {
    PLANTED.with_borrow(|planted| {
        let Planted { file, line, column, error } = planted.as_ref()?;
        let here = (place.line() as usize, place.column() as usize, place.file());
        (here == (*line, *column, file)).then_some(*error)
    })
}
