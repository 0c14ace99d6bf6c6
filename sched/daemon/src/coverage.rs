//! Whether the locks that are recorded of a process are those that it waits for.
//!
//! If they are not, their acquisitions do not tell how much it gets done. A window says little: at the
//! beginning, waits are under way of which a recording only knows once they end. So windows are added up,
//! and nothing is believed before there are a few. What has once been found to wait elsewhere stays so, since
//! scores of two kinds do not compare.

use kilocore_sched_policy::Nanos;

/// So many windows pass before acquisitions count. A policy that needs votes of more windows has not begun
/// to search by then.
const WINDOWS: u32 = 3;

/// How much of its time a process has to wait elsewhere, one part of so many, for that to matter.
const MATTERS: u64 = 20;

/// For how long the threads of a process ran and waited in a window, all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) ran: Nanos,
    /// For locks that are recorded, and for others.
    pub(crate) recorded: Nanos,
    pub(crate) elsewhere: Nanos,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Coverage {
    windows: u32,
    sum: Times,
    is_elsewhere: bool,
}

impl Coverage {
    /// A window is over, in which the process's locks were recorded.
    pub(crate) fn window(&mut self, times: Times) {
        let add = |sum: &mut Nanos, more: Nanos| sum.0 = sum.0.saturating_add(more.0);
        add(&mut self.sum.ran, times.ran);
        add(&mut self.sum.recorded, times.recorded);
        add(&mut self.sum.elsewhere, times.elsewhere);
        self.windows = self.windows.saturating_add(1);
        let Times { ran, recorded, elsewhere } = self.sum;
        let much = elsewhere.0 > ran.0.saturating_add(elsewhere.0) / MATTERS;
        self.is_elsewhere |= self.windows >= WINDOWS && elsewhere > recorded && much;
    }

    /// Whether acquisitions tell how much the process gets done.
    pub(crate) fn counts(&self) -> bool {
        self.windows >= WINDOWS && !self.is_elsewhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ran: u64, recorded: u64, elsewhere: u64) -> Times {
        Times { ran: Nanos(ran), recorded: Nanos(recorded), elsewhere: Nanos(elsewhere) }
    }

    fn counts(windows: &[Times]) -> bool {
        let mut coverage = Coverage::default();
        windows.iter().for_each(|times| coverage.window(*times));
        coverage.counts()
    }

    #[test]
    fn waits_under_way_at_the_beginning_are_made_good_for() {
        let windows = [times(100, 0, 60), times(100, 80, 10), times(100, 80, 10)];
        assert!(!counts(&windows[..2]), "nothing is known yet");
        assert!(counts(&windows));
    }

    #[test]
    fn who_waits_mostly_for_other_locks_is_told_by_them_for_good() {
        let mut windows = vec![times(100, 10, 60); 3];
        assert!(!counts(&windows));
        windows.extend([times(100, 1_000, 0); 3]);
        assert!(!counts(&windows));
        assert!(counts(&[times(100, 1, 3); 3]), "little waiting does not matter");
    }
}
