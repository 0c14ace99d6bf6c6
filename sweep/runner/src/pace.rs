//! How long points take, learned from those that were computed.

use std::collections::HashMap;
use std::time::Duration;

/// Seconds for a unit of cost, of each computation. The units of two computations have nothing in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    seen: HashMap<String, Seen>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    seconds: f64,
    cost: f64,
}

impl Pace {
    /// So long took points of this computation and cost, on one core.
    pub(crate) fn learn(&mut self, computation: &str, cost: f64, took: Duration) {
        let seen = self.seen.entry(computation.to_owned()).or_default();
        seen.seconds += took.as_secs_f64();
        seen.cost += cost;
    }

    /// How long points of this computation and cost will take on one core. `None` if none was seen.
    pub(crate) fn of(&self, computation: &str, cost: f64) -> Option<Duration> {
        let seen = self.seen.get(computation).filter(|seen| seen.cost > 0.0)?;
        Duration::try_from_secs_f64(seen.seconds / seen.cost * cost).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Pace;

    #[test]
    fn a_computations_points_take_as_long_for_each_unit_as_those_before() {
        let mut pace = Pace::default();
        assert_eq!(pace.of("locks", 6.0), None);
        pace.learn("locks", 1.0, Duration::from_secs(3));
        pace.learn("locks", 3.0, Duration::from_secs(1));
        pace.learn("pages", 1.0, Duration::from_secs(100));
        assert_eq!(pace.of("locks", 6.0), Some(Duration::from_secs(6)));
        assert_eq!(pace.of("lists", 6.0), None);
    }

    #[test]
    fn what_costs_nothing_teaches_nothing() {
        let mut pace = Pace::default();
        pace.learn("locks", 0.0, Duration::from_secs(3));
        assert_eq!(pace.of("locks", 1.0), None);
        pace.learn("locks", 1.0, Duration::from_secs(1));
        assert_eq!(pace.of("locks", f64::INFINITY), None);
    }
}
