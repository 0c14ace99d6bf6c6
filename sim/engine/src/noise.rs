//! Noise of the operating system: what disturbs threads that would otherwise do the same for ever.
//!
//! * **Interrupts**, those of the timer above all. Each core has its own times for them, equally far apart, from a first one
//!   that chance decides. How long one takes is between a half and three halves of the mean. Only a core that computes is
//!   interrupted, as Linux stops the timer of an idle one.
//! * **Wakes** that take somewhat more or less than in the mean ([`WAKE_SPREAD`]).
//!
//! Without it, two threads that do the same stay in step. At a barrier they never wait for one another, or one of them
//! always does. At a lock they meet each time, or never.

use kilocore_platform::Cycles;

use crate::costs::Costs;
use crate::ids::CoreId;
use crate::random::Random;
use crate::table::Table;

/// Which of the streams of random numbers it is.
const STREAM: u64 = u64::MAX;
/// Wakes take up to this part less or more; all in between are equally likely. Where this was measured (a virtual machine,
/// Linux 6.18), half of the wakes were within 8 % of the median.
const WAKE_SPREAD: f64 = 0.16;

/// When cores are interrupted, and for how long, and how long wakes take.
#[derive(Debug)]
pub(crate) struct Noise {
    every: Cycles,
    /// How long an interrupt takes in the mean; none if there are no interrupts.
    takes: Cycles,
    /// The next one of each core.
    next: Table<CoreId, Cycles>,
    random: Random,
}

impl Noise {
    pub(crate) fn new(costs: &Costs, cores: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, STREAM);
        let (every, takes) = (costs.interrupt_every.max(Cycles(1)), costs.interrupt);
        let first = |random: &mut Random| match takes {
            Cycles(0) => Cycles::MAX,
            _ => share(every, random.uniform()),
        };
        let next = (0..cores).map(|_| first(&mut random)).collect::<Vec<_>>();
        Self { every, takes, next: Table::from(next), random }
    }

    /// How long a core is interrupted that has computed from `since` until `now`.
    #[inline]
    pub(crate) fn interrupt(&mut self, core: CoreId, since: Cycles, now: Cycles) -> Cycles {
        if now < self.next[core] { Cycles(0) } else { self.interrupts(core, since, now) }
    }

    #[inline(never)]
    fn interrupts(&mut self, core: CoreId, since: Cycles, now: Cycles) -> Cycles {
        let next = &mut self.next[core];
        // Those until it began to compute found it idle, or in the kernel.
        let missed = (since + Cycles(1)).since(*next).0.div_ceil(self.every.0);
        *next += Cycles(missed * self.every.0);
        let mut all = Cycles(0);
        while *next <= now {
            *next += self.every;
            all += share(self.takes, 0.5 + self.random.uniform());
        }
        all
    }

    /// How long a wake takes that takes so long in the mean.
    pub(crate) fn wake(&mut self, mean: Cycles) -> Cycles {
        share(mean, 1.0 + WAKE_SPREAD * (2.0 * self.random.uniform() - 1.0))
    }
}

fn share(of: Cycles, part: f64) -> Cycles {
    Cycles((of.0 as f64 * part).round() as u64)
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Cycles;

    use super::Noise;
    use crate::ids::CoreId;
    use crate::random::Random;
    use crate::table::Table;

    fn noise() -> Noise {
        let next = Table::from(vec![Cycles(300), Cycles(900)]);
        Noise { every: Cycles(1_000), takes: Cycles(20), next, random: Random::new(1, 0) }
    }

    #[test]
    fn each_core_is_interrupted_at_its_times() {
        let mut noise = noise();
        assert_eq!(noise.interrupt(CoreId(0), Cycles(0), Cycles(299)), Cycles(0));
        assert_ne!(noise.interrupt(CoreId(0), Cycles(299), Cycles(300)), Cycles(0));
        assert_eq!(noise.interrupt(CoreId(0), Cycles(300), Cycles(1_299)), Cycles(0));
        assert_eq!(noise.interrupt(CoreId(1), Cycles(0), Cycles(899)), Cycles(0));
        let many = noise.interrupt(CoreId(0), Cycles(1_299), Cycles(1_000_000)).0 as f64;
        assert!((many / 999.0 / 20.0 - 1.0).abs() < 0.05, "{many}");
    }

    #[test]
    fn an_idle_core_is_not_interrupted() {
        let mut noise = noise();
        assert_eq!(noise.interrupt(CoreId(0), Cycles(50_300), Cycles(51_299)), Cycles(0));
        assert_ne!(noise.interrupt(CoreId(0), Cycles(51_299), Cycles(51_300)), Cycles(0));
        assert_eq!(noise.next[CoreId(0)], Cycles(52_300));
    }

    #[test]
    fn wakes_take_as_long_in_the_mean() {
        let mut noise = noise();
        let wakes: Vec<u64> = (0..10_000).map(|_| noise.wake(Cycles(10_000)).0).collect();
        let mean = wakes.iter().sum::<u64>() as f64 / wakes.len() as f64;
        assert!((mean / 10_000.0 - 1.0).abs() < 0.01, "{mean}");
        assert!(wakes.iter().all(|wake| (8_400..=11_600).contains(wake)));
    }
}
