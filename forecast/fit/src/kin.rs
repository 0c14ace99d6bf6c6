//! Which locks do alike.
//!
//! Programs do much the same under locks whose waiters wait in the same way: measured curves of two
//! queue locks differ less than the model errs on either. So what is known of one lock is evidence
//! for its relatives, in two ways: errors of the model are expected to go together
//! ([`crate::discrepancy`]), and the more the model errs on a program, the more likely it is that a
//! lock does as its relative and that the difference which is simulated is an error ([`doubt`]).

use kilocore_locks::{LockId, Waiting};

/// How the waiters of a lock wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kin {
    /// Asleep, in no order.
    Mutex,
    /// In a queue, in the end asleep.
    ParkingQueue,
    /// All watching one word.
    Spinning,
    /// In a queue, each or a few watching a word of their own.
    Queue,
}

/// The kind of a lock.
pub(crate) fn kin(lock: LockId) -> Kin {
    match lock.info().waiting {
        Waiting::SleepUnordered => Kin::Mutex,
        Waiting::ParkInQueue => Kin::ParkingQueue,
        Waiting::SpinUnordered | Waiting::SpinInTurn | Waiting::RestInTurn => Kin::Spinning,
        Waiting::SpinInQueue => Kin::Queue,
    }
}

/// The lock among those `measured` that stands nearest to `lock`, if that is another one.
///
/// The first of the same kind; for a lock whose waiters sleep, else the first of such locks.
pub(crate) fn relative(lock: LockId, measured: &[LockId]) -> Option<LockId> {
    if measured.contains(&lock) {
        return None;
    }
    let sleeps = |kin| matches!(kin, Kin::Mutex | Kin::ParkingQueue);
    let first = |near: &dyn Fn(Kin) -> bool| measured.iter().copied().find(|&m| near(kin(m)));
    let own = kin(lock);
    first(&|other| other == own).or_else(|| first(&|other| sleeps(own) && sleeps(other)))
}

/// An error of the model, in logarithms of throughput, that makes it as likely as not that relatives
/// do not differ as simulated.
const TYPICAL_DIFFERENCE: f64 = 0.06;

/// How likely it is that a lock does as its measured relative, and not as it is simulated itself,
/// where the model errs by `level` (a standard deviation, in logarithms of throughput).
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
