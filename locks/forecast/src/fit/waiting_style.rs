//! Which locks perform alike.
//!
//! Programs perform much the same under locks whose waiters wait in the same way. For example, the
//! measured curves of two queue locks differ less from each other than the model errs on either. So
//! what is known of one lock is evidence for its relatives, in two ways. First, the model is
//! expected to err on relatives in the same direction ([`crate::fit::discrepancy`]). Second, the more
//! the model errs on a program, the more likely it is that a lock performs as its measured relative
//! does, and that the simulated difference between the two is an error ([`doubt`]).

use kilocore_locks::{LockId, Waiting};

/// How the waiters of a lock wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitingStyle {
    /// Asleep, in no order.
    Mutex,
    /// In a queue, at first awake and in the end asleep.
    ParkingQueue,
    /// All watching one word.
    Spinning,
    /// In a queue, each or a few watching a word of their own.
    Queue,
}

/// The kind of a lock.
pub(crate) fn waiting_style(lock: LockId) -> WaitingStyle {
    match lock.info().waiting {
        Waiting::SleepUnordered => WaitingStyle::Mutex,
        Waiting::ParkInQueue => WaitingStyle::ParkingQueue,
        Waiting::SpinUnordered | Waiting::SpinInTurn | Waiting::RestInTurn => {
            WaitingStyle::Spinning
        }
        Waiting::SpinInQueue => WaitingStyle::Queue,
    }
}

/// The measured lock that is nearest to `lock`, if that is another lock.
///
/// This is the first measured lock of the same kind. If there is none and the waiters of `lock`
/// sleep, it is the first measured lock whose waiters sleep.
pub(crate) fn relative(lock: LockId, measured: &[LockId]) -> Option<LockId> {
    if measured.contains(&lock) {
        return None;
    }
    let sleeps =
        |waiting_style| matches!(waiting_style, WaitingStyle::Mutex | WaitingStyle::ParkingQueue);
    let first = |near: &dyn Fn(WaitingStyle) -> bool| {
        measured.iter().copied().find(|&m| near(waiting_style(m)))
    };
    let own = waiting_style(lock);
    first(&|other| other == own).or_else(|| first(&|other| sleeps(own) && sleeps(other)))
}

/// The error of the model, in logarithms of throughput, at which the odds are even that relatives
/// differ as simulated.
const TYPICAL_DIFFERENCE: f64 = 0.06;

/// How likely it is that a lock performs as its measured relative does, and not as its own
/// simulation says, if the model errs by `level` (a standard deviation, in logarithms of
/// throughput).
pub(crate) fn doubt(level: f64) -> f64 {
    let (error, difference) = (level * level, TYPICAL_DIFFERENCE * TYPICAL_DIFFERENCE);
    error / (error + difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_measured_lock_is_of_the_same_kind() {
        let measured = [LockId::Futex, LockId::Ticket, LockId::Mcs];
        assert_eq!(relative(LockId::Hmcs, &measured), Some(LockId::Mcs));
        assert_eq!(relative(LockId::Tas, &measured), Some(LockId::Ticket));
        assert_eq!(relative(LockId::McsPark, &measured), Some(LockId::Futex));
        assert_eq!(relative(LockId::Mcs, &measured), None);
        assert_eq!(relative(LockId::Mcs, &[LockId::Futex]), None);
    }

    #[test]
    fn a_model_that_errs_little_is_believed() {
        assert!(doubt(0.01) < 0.05);
        assert!(doubt(0.5) > 0.95);
    }
}
