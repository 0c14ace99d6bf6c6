//! Stretches of a thread's time, as far as it ran.

use crate::ids::{Moment, Tid};
use crate::watched::Absences;

/// A stretch of a thread's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    all: f64,
    /// The time without a core that others took, and by its own will, in nanoseconds.
    pub(crate) preempted: f64,
    pub(crate) asleep: f64,
}

impl Span {
    pub(crate) fn of(from: Moment, to: Moment, tid: Tid, away: &Absences) -> Self {
        let (mut preempted, mut asleep) = (0.0, 0.0);
        for away in away.get(&tid).into_iter().flatten() {
            let within = (away.to.min(to) - away.from.max(from)).0 as f64;
            *if away.asleep { &mut asleep } else { &mut preempted } += within;
        }
        Self { all: (to - from).0 as f64, preempted, asleep }
    }

    /// The time in which the thread ran, less what hits cost. It may come out below zero: their cost
    /// is a mean.
    pub(crate) fn less(self, hits: f64) -> f64 {
        self.all - self.preempted - self.asleep - hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_off_the_core_is_no_time_in_a_section() {
        let away =
            |from, to, asleep| crate::watched::Away { from: Moment(from), to: Moment(to), asleep };
        let absences = Absences::from([(
            Tid(1),
            vec![away(10, 30, true), away(40, 45, false), away(90, 200, true)],
        )]);
        let span = Span::of(Moment(20), Moment(100), Tid(1), &absences);
        assert_eq!((span.all, span.asleep, span.preempted), (80.0, 20.0, 5.0));
        assert_eq!(span.less(26.0), 80.0 - 25.0 - 26.0);
        assert_eq!(Span::of(Moment(20), Moment(100), Tid(2), &absences).asleep, 0.0);
    }
}
