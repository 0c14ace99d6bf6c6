//! A thread within a window: what it does now, and what each event says of the time before.
//!
//! A stretch of time lies between two events of a thread. If they fit together, the first of them
//! says what the stretch was. If they do not, because an event between them was lost, the stretch
//! is unknown.

use crate::thread_account::Reason;
use crate::thread_account::kept::ThreadIndex;

/// What a thread does, since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No event of it was seen in this window yet.
    Unseen,
    /// It has a core. It may spin for one of the kernel's locks.
    Running { since: u64, spins: bool },
    /// It would run, or spin for one of the kernel's locks, and has no core.
    Ready { since: u64, spins: bool },
    /// It is off its core for a reason other than preemption.
    Off {
        since: u64,
        reason: Reason,
        /// Whether this wait has been counted in an adjoining window.
        counted: bool,
        /// Whether it is for one of the kernel's locks, for which the thread spun before and will
        /// again.
        spins: bool,
    },
}

/// A stretch of a thread's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// On a core, other than spinning for one of the kernel's locks.
    Running,
    /// On a core, spinning for one of the kernel's locks.
    Spinning,
    /// Ready, without a core.
    Ready,
    /// Off its core for a reason.
    Off { reason: Reason, waker: Option<ThreadIndex>, counted: bool },
    /// Asleep from the beginning of the window, for a reason that this window does not show.
    Before { waker: Option<ThreadIndex> },
    /// An event is missing.
    Unknown,
}

impl Stretch {
    fn on_core(spins: bool) -> Self {
        if spins { Self::Spinning } else { Self::Running }
    }
}

/// A stretch with its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimedStretch {
    pub(crate) what: Stretch,
    pub(crate) from: u64,
    pub(crate) until: u64,
}

impl State {
    /// The state of a thread that leaves its core, or is off it.
    pub(crate) fn off(reason: Reason, since: u64) -> Self {
        match reason {
            Reason::Preempted => Self::Ready { since, spins: false },
            reason => Self::Off { since, reason, counted: false, spins: false },
        }
    }

    /// Whether it spins for one of the kernel's locks whenever it has a core.
    fn contends(self) -> bool {
        match self {
            Self::Running { spins, .. } | Self::Ready { spins, .. } | Self::Off { spins, .. } => {
                spins
            }
            Self::Unseen => false,
        }
    }

    /// Returns the state after the thread leaves its core, and the stretch that ends.
    pub(crate) fn out(self, at: u64, begin: u64, reason: Reason) -> (Self, TimedStretch) {
        let (what, from) = match self {
            // Nothing happened since the window began, so it had a core then.
            Self::Unseen => (Stretch::Running, begin),
            Self::Running { since, spins } => (Stretch::on_core(spins), since),
            Self::Ready { since, .. } | Self::Off { since, .. } => (Stretch::Unknown, since),
        };
        let spins = matches!(self, Self::Running { spins: true, .. });
        let state = match Self::off(reason, at) {
            Self::Ready { since, .. } => Self::Ready { since, spins },
            // Whatever system call it is in, it sleeps there for that lock.
            Self::Off { since, .. } if spins => {
                Self::Off { since, reason: Reason::KernelLock, counted: false, spins }
            }
            state => state,
        };
        (state, TimedStretch { what, from, until: at })
    }

    /// Returns the state after the thread gets a core, and the stretch that ends.
    pub(crate) fn enter(self, at: u64, begin: u64) -> (Self, TimedStretch) {
        let (what, from) = match self {
            Self::Unseen => (Stretch::Before { waker: None }, begin),
            // It left its core in between, and nobody knows when.
            Self::Running { since, .. } => (Stretch::Unknown, since),
            Self::Ready { since, .. } => (Stretch::Ready, since),
            Self::Off { since, reason, counted, .. } => {
                (Stretch::Off { reason, waker: None, counted }, since)
            }
        };
        (
            Self::Running { since: at, spins: self.contends() },
            TimedStretch { what, from, until: at },
        )
    }

    /// Returns the state after the thread becomes ready, and the stretch that ends, if one does. A
    /// thread that is awake may be woken once more, which means nothing.
    pub(crate) fn woken(
        self,
        at: u64,
        begin: u64,
        waker: Option<ThreadIndex>,
    ) -> (Self, Option<TimedStretch>) {
        let (what, from) = match self {
            Self::Unseen => (Stretch::Before { waker }, begin),
            Self::Off { since, reason, counted, .. } => {
                (Stretch::Off { reason, waker, counted }, since)
            }
            Self::Running { .. } | Self::Ready { .. } => return (self, None),
        };
        let spins = self.contends();
        (Self::Ready { since: at, spins }, Some(TimedStretch { what, from, until: at }))
    }

    /// Returns the state after something that only a thread with a core can do, and the stretch that
    /// ends, if one does.
    pub(crate) fn ran(self, at: u64, begin: u64) -> (Self, Option<TimedStretch>) {
        match self {
            Self::Unseen => (Self::Running { since: begin, spins: false }, None),
            Self::Running { .. } => (self, None),
            Self::Ready { since, .. } | Self::Off { since, .. } if at <= since => (self, None),
            Self::Ready { since, .. } | Self::Off { since, .. } => (
                Self::Running { since: at, spins: false },
                Some(TimedStretch { what: Stretch::Unknown, from: since, until: at }),
            ),
        }
    }

    /// Returns the state after a thread begins to spin for one of the kernel's locks or has it, and
    /// the stretch that ends, if one does.
    pub(crate) fn spins(self, at: u64, begin: u64, spins: bool) -> (Self, Option<TimedStretch>) {
        let (state, before) = self.ran(at, begin);
        match state {
            Self::Running { since, spins: already } if already != spins && before.is_none() => {
                let part = TimedStretch { what: Stretch::on_core(already), from: since, until: at };
                (Self::Running { since: at, spins }, Some(part))
            }
            Self::Running { since, .. } => (Self::Running { since, spins }, before),
            state => (state, before),
        }
    }

    /// Returns the stretch that the end of the window cuts, and the state in which the next window
    /// finds the thread if it begins at this moment.
    pub(crate) fn end(self, end: u64) -> (Self, Option<TimedStretch>) {
        let part = |what, from| Some(TimedStretch { what, from, until: end });
        match self {
            Self::Unseen => (self, None),
            Self::Running { since, spins } => {
                (Self::Running { since: end, spins }, part(Stretch::on_core(spins), since))
            }
            Self::Ready { since, spins } => {
                (Self::Ready { since: end, spins }, part(Stretch::Ready, since))
            }
            Self::Off { since, reason, counted, spins } => (
                Self::Off { since: end, reason, counted: true, spins },
                part(Stretch::Off { reason, waker: None, counted }, since),
            ),
        }
    }
}
