//! Policies, which decide when updates are logged.

use kilocore_platform::{Cycles, Platform};

/// Decides for each update of a root whether it is logged or made directly.
///
/// Any update may be made in either way at any time, because a direct update applies the log first.
/// So a policy only gives advice. Advice that is out of date makes the root slower, but never
/// wrong. A policy that needs to learn nothing about the operations implements [`new`](Self::new)
/// and [`begin`](Self::begin) only.
pub trait Policy<P: Platform>: Send + Sync + 'static {
    /// Returns the policy of a new root.
    fn new() -> Self;

    /// Is called when an operation begins. The returned advice says how an update is to be made. It
    /// is handed to [`done`](Self::done) at the end of the operation.
    fn begin(&self, kind: Kind) -> Advice;

    /// Is called when the operation for which [`begin`](Self::begin) returned this advice has
    /// ended. Returns whether the policy wants [`look`](Self::look) to be called soon.
    #[inline(always)]
    fn done(&self, _kind: Kind, _advice: Advice) -> bool {
        false
    }

    /// Is called when a timed operation that was advised not to log had to apply the log first,
    /// which took the time `_took`. This time is not part of the operation's own time.
    #[inline(always)]
    fn owed(&self, _took: Cycles) {}

    /// Gives the policy an opportunity to change its advice. It is called after the log was
    /// applied, and after [`done`](Self::done) has returned true if the lock is free then.
    ///
    /// # Safety
    /// The caller holds the root's lock as the writer. So no other thread calls this function or
    /// [`updated`](Self::updated) meanwhile. Otherwise two threads could write the state of
    /// [`Adaptive`](crate::Adaptive) at the same time:
    ///
    /// ```
    /// # use kilocore_ldu::{Adaptive, Policy};
    /// # use kilocore_platform::Native;
    /// let policy = <Adaptive<Native> as Policy<Native>>::new();
    /// // SAFETY: nobody else knows of the policy.
    /// unsafe { policy.look() };
    /// ```
    ///
    /// ```compile_fail,E0133
    /// # use kilocore_ldu::{Adaptive, Policy};
    /// # use kilocore_platform::Native;
    /// let policy = <Adaptive<Native> as Policy<Native>>::new();
    /// policy.look();
    /// ```
    #[inline(always)]
    unsafe fn look(&self) {}

    /// Is called when an update was made directly.
    ///
    /// # Safety
    /// As for [`look`](Self::look).
    #[inline(always)]
    unsafe fn updated(&self) {}
}

/// What a policy tells an operation that begins.
#[derive(Debug, Clone, Copy)]
pub struct Advice {
    /// Whether an update should be logged.
    pub logs: bool,
    /// When the operation began. It is `None` if the policy does not time this operation.
    pub began: Option<Cycles>,
}

/// A kind of operation on a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An object is put in or taken out.
    Update,
    /// The structure is read. The operation lasts from the reader's request to enter until it has
    /// left. The time inside is included, because it also depends on whether updates are logged: if
    /// many readers enter together, they slow each other down.
    Read,
}

/// The policy that logs every update.
#[derive(Debug, Clone, Copy, Default)]
pub struct Always;

impl<P: Platform> Policy<P> for Always {
    fn new() -> Self {
        Self
    }
    #[inline(always)]
    fn begin(&self, _kind: Kind) -> Advice {
        Advice { logs: true, began: None }
    }
}
