//! When updates are logged.

use kilocore_platform::{Cycles, Platform};

/// Decides whether a root's updates are logged or made at once, as they come.
///
/// Any update may be made in either way at any time: a direct one applies the log first. So what a
/// policy says is advice and may be out of date; it decides how fast the root is and not whether
/// it is right. One that wants to know nothing says no more than how updates are made.
pub trait Policy<P: Platform>: Send + Sync + 'static {
    /// That of a new root.
    fn new() -> Self;

    /// An operation begins. What is given back says how an update is to be made, and goes to
    /// [`done`](Self::done).
    fn begin(&self, kind: Kind) -> Advice;

    /// The operation that [`begin`](Self::begin) gave this advice for has ended. True if the
    /// policy wants to be [asked](Self::look) soon.
    #[inline(always)]
    fn done(&self, _kind: Kind, _advice: Advice) -> bool {
        false
    }

    /// An operation that was told not to log has applied the log, and spent so long on it. That is
    /// not part of the time it took.
    #[inline(always)]
    fn owed(&self, _took: Cycles) {}

    /// Time to change the advice: when the log was applied, and when [`done`](Self::done) wanted it
    /// and the lock was free.
    ///
    /// # Safety
    /// The caller holds the root's lock as the writer: nobody else calls this, or
    /// [`updated`](Self::updated), meanwhile. What [`Adaptive`](crate::Adaptive) keeps would be
    /// written by two threads at once otherwise:
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

    /// An update was made at once.
    ///
    /// # Safety
    /// As for [`look`](Self::look).
    #[inline(always)]
    unsafe fn updated(&self) {}
}

/// What a policy says to an operation that begins.
#[derive(Debug, Clone, Copy)]
pub struct Advice {
    /// Whether an update is to be logged.
    pub logs: bool,
    /// When the operation began, if the policy wants to know how long it takes.
    pub began: Option<Cycles>,
}

/// An operation on a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An object is put in or taken out.
    Update,
    /// The structure is read: from asking to be let in until the reader has left. How long it takes
    /// inside depends on the way, too: many readers that are let in together are in each other's
    /// way.
    Read,
}

/// Updates are logged, always.
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
