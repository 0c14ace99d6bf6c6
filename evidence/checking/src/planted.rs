//! Plants an error into the shipped source at run time. A check that does not notice the error
//! proves nothing.
//!
//! An operation on an [`Altered`](crate::Altered) platform knows from where it is called. So while
//! a check runs, one call of the source, named by its text, can be made to go wrong. Everything
//! else is the code that ships.

use std::cell::RefCell;
use std::panic::Location;

use kilocore_platform::Ordering;

/// The way in which a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The call changes nothing.
    Lost,
    /// The call loads and stores in two steps. Other threads may access the word in between. Only
    /// for exchanges.
    InTwoSteps,
    /// The first ordering of the call is replaced by this one.
    Weakened(Ordering),
}

/// A file of the shipped source.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The path of the file, as the compiler names it.
    pub file: &'static str,
    /// The text of the file.
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
    // A checker runs all its threads on one thread of the operating system, so a thread-local is
    // enough.
    static PLANTED: RefCell<Option<Planted>> = const { RefCell::new(None) };
}

/// Removes the error when it is dropped, so also when the check has panicked, as it should.
struct Weed;

impl Drop for Weed {
    fn drop(&mut self) {
        PLANTED.set(None);
    }
}

/// Runs `check` with an error in one call. The call is the one that `source` has with the text
/// `call`, which begins with the operation's name, as in `store(node, Ordering::Release)`.
///
/// # Panics
/// If the text is not in the source exactly once.
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

/// Returns the error of the call at `place`, if there is one.
pub(crate) fn error(place: &Location<'_>) -> Option<Error> {
    PLANTED.with_borrow(|planted| {
        let Planted { file, line, column, error } = planted.as_ref()?;
        let here = (place.line() as usize, place.column() as usize, place.file());
        (here == (*line, *column, file)).then_some(*error)
    })
}
