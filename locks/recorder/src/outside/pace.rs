//! How often to look.

use std::time::Duration;

/// In the long run, each kind of looking takes one part in this many of a core's time. There are
/// three kinds.
pub(crate) const SHARE: u32 = 500;

/// The least time between two rounds. Looks at a sleeping thread that come sooner say the same.
const LEAST: Duration = Duration::from_millis(10);

/// How many rounds at the start come sooner, with a pause that doubles each time. A program may
/// start others and end soon.
const EAGER: u32 = 4;

/// How many rounds may take [`EARLY_SHARE`] of a core, if each takes at most [`CHEAP`]. Without
/// them, a program that runs for a second would be looked at too rarely to say anything.
const EARLY: u32 = 50;
const EARLY_SHARE: u32 = 100;
const CHEAP: Duration = Duration::from_millis(1);

/// Spaces rounds so that they cost little, however much there is to look at. The spaces vary, so
/// that rounds do not keep step with a program that does something at regular times.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The mean cost of a round.
    cost: Duration,
    rounds: u32,
    random: u64,
}

impl Pace {
    pub(crate) fn new(seed: u64) -> Self {
        Self { cost: Duration::ZERO, rounds: 0, random: seed | 1 }
    }

    /// Returns how long to wait after a round that took so much processor time.
    pub(crate) fn after(&mut self, spent: Duration) -> Duration {
        // If the cost rises, the mean follows at once. If it falls, the mean follows slowly.
        self.cost = spent.max((self.cost * 7 + spent) / 8);
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds < EAGER {
            return LEAST / (1 << (EAGER - self.rounds));
        }
        let early = self.rounds < EARLY && self.cost <= CHEAP;
        let share = if early { EARLY_SHARE } else { SHARE };
        let period = (self.cost * share).max(LEAST);
        period / 2 + period * self.chance(1 << 16) / (1 << 16)
    }

    /// Returns a random number below `end`.
    pub(crate) fn chance(&mut self, end: u32) -> u32 {
        // Marsaglia's shifts, whose low half is the weaker.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (((self.random >> 32) * u64::from(end)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the eager rounds.
    fn steady() -> Pace {
        let mut pace = Pace::new(7);
        let eager: Duration = (1..EAGER).map(|_| pace.after(Duration::ZERO)).sum();
        assert!(eager < LEAST, "{eager:?}");
        pace
    }

    #[test]
    fn rounds_cost_a_small_part_of_a_core_whatever_one_costs() {
        for cost in [0, 20, 1_000, 300_000].map(Duration::from_micros) {
            let mut pace = steady();
            let all: Duration = (0..1_000).map(|_| pace.after(cost)).sum();
            let share = cost.as_secs_f64() * 1_000.0 / all.as_secs_f64();
            assert!(share < 0.0025, "{cost:?}: {share}");
            assert!(all < 1_000 * (cost * SHARE + LEAST) * 2, "{cost:?}: {all:?}");
        }
    }

    #[test]
    fn one_dear_round_slows_the_next_ones_down() {
        let mut pace = steady();
        let dear = pace.after(Duration::from_millis(50));
        assert!(dear >= Duration::from_secs(10), "{dear:?}");
        let next = pace.after(Duration::from_micros(10));
        assert!(next > 100 * LEAST, "{next:?}");
    }
}
