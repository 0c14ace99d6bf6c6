//! What it takes to wake a thread, and how that depends on how long its processor was idle.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kilocore_figures::lower_median;

use crate::MeasureError;
use crate::pinned::Pinned;
use crate::system::{futex_wait, futex_wake};

/// For how long the sleeper's processor is idle: from when the sleeper goes to sleep until it is woken.
const IDLE_NS: [u32; 15] = [
    1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 10_000, 15_000, 20_000, 30_000, 60_000, 100_000,
    300_000, 1_000_000, 3_000_000,
];
/// Wakes for each of these, and the most time for it.
const SAMPLES: u32 = 60;
const TIME: Duration = Duration::from_millis(250);
/// A processor that is idle for less may not be so yet.
const LEAST_IDLE_NS: f64 = 10_000.0;
/// A thread that went to sleep may not have left its processor yet for so long.
const LEAVING_NS: f64 = 3_000.0;
/// A processor is going idle if its waker pays less than this part of what it pays later, and that at so many times one
/// after the other, from when the thread has left on.
const STILL_GOING: f64 = 0.5;
const LEAST_GOING: usize = 3;
/// A sleeper that has just begun has callbacks of the kernel's (RCU) outstanding, and a processor with such does not stop
/// its timer when it goes idle. That takes a few ticks.
const WARM_UP: Duration = Duration::from_millis(200);
/// By how much the wake has to take longer after a long time than after a short one, for idle processors to be in a
/// deeper state then.
const DEEPER: f64 = 1.3;

/// What it takes to wake a thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Waking {
    /// What it costs the waker if the sleeper's processor is idle, but not for long, in ns.
    pub(crate) cost_ns: f64,
    /// The time from the end of the waker's call until the woken thread runs then, in ns: at least 1.
    pub(crate) delay_ns: f64,
    /// How a processor goes idle, if a wake takes less meanwhile.
    pub(crate) going: Option<GoingIdle>,
    /// After how long the processor is in a deeper state, in µs, or 0 for never.
    pub(crate) deep_after_us: f64,
    /// How much longer the wake takes from there, in ns.
    pub(crate) deep_exit_ns: f64,
}

/// How a processor goes idle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GoingIdle {
    /// How long it takes from when the thread goes to sleep, in ns.
    pub(crate) entry_ns: f64,
    /// The time from there until a thread runs that was woken meanwhile, in ns.
    pub(crate) return_ns: f64,
}

/// The wakes of a processor that was idle for some time: medians, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Woken {
    idle: f64,
    /// From the beginning of the waker's call to its end.
    cost: f64,
    /// From the same beginning until the woken thread runs.
    latency: f64,
}

/// Measures it: `sleeper` is another processor, idle until it is woken. `None` if nobody ever fell asleep.
pub(crate) fn waking(waker: u32, sleeper: u32) -> Result<Option<Waking>, MeasureError> {
    Ok(of(&wakes(waker, sleeper)?))
}

/// What wakes say that are in the order of how long the processor was idle.
fn of(all: &[Woken]) -> Option<Waking> {
    let (usual, last) = (all.iter().find(|woken| woken.idle >= LEAST_IDLE_NS), all.last()?);
    let going = going_idle(all, usual.unwrap_or(last));
    let entry = going.map_or(0.0, |going| going.entry_ns);
    // A processor that has just become idle may halt a moment later.
    let is_idle = |woken: &&Woken| woken.idle >= LEAST_IDLE_NS.max(2.0 * entry);
    let idle: Vec<Woken> = all.iter().filter(is_idle).copied().collect();
    let first = idle.first().unwrap_or(last);
    let extra = last.latency - first.latency;
    let deep = idle.windows(2).find(|pair| pair[1].latency >= first.latency + extra / 2.0);
    let deep = deep.filter(|_| last.latency > DEEPER * first.latency);
    Some(Waking {
        cost_ns: first.cost,
        // A thread may run before its waker's call is over: then nothing is left to wait for.
        delay_ns: (first.latency - first.cost).max(1.0),
        going,
        deep_after_us: deep.map_or(0.0, |pair| (pair[0].idle * pair[1].idle).sqrt() / 1000.0),
        deep_exit_ns: deep.map_or(0.0, |_| extra),
    })
}

fn going_idle(all: &[Woken], idle: &Woken) -> Option<GoingIdle> {
    let is_going = |woken: &Woken| woken.cost < STILL_GOING * idle.cost;
    let leaving = |woken: &&Woken| woken.idle < LEAVING_NS && !is_going(woken);
    let left = &all[all.iter().take_while(leaving).count()..];
    let (before, after) = left.split_at(left.iter().take_while(|woken| is_going(woken)).count());
    let (last, next) = (before.last().filter(|_| before.len() >= LEAST_GOING)?, after.first()?);
    let entry_ns = (last.idle * next.idle).sqrt();
    // When it runs does not depend on when it was woken meanwhile.
    let runs = lower_median(before.iter().map(|woken| woken.idle + woken.latency))?;
    Some(GoingIdle { entry_ns, return_ns: (runs - entry_ns).max(1.0) })
}

/// The wakes after each of the times, but for those in which the sleeper never fell asleep.
fn wakes(waker: u32, sleeper: u32) -> Result<Vec<Woken>, MeasureError> {
    let round = AtomicU32::new(0);
    let (ready, awake_at) = (AtomicU32::new(0), AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let begin = Instant::now();
    let mut all = Vec::new();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _there = Pinned::to(sleeper)?;
            let mut turn = 0;
            while !over.load(Ordering::Acquire) {
                ready.store(turn + 1, Ordering::Release);
                while round.load(Ordering::Acquire) == turn && !over.load(Ordering::Acquire) {
                    futex_wait(&round, turn);
                }
                awake_at.store(begin.elapsed().as_nanos() as u64, Ordering::Release);
                turn += 1;
            }
            Ok(())
        });
        let here = Pinned::to(waker);
        let spin_until = |done: &dyn Fn() -> bool| {
            while !done() && !thread.is_finished() {
                std::hint::spin_loop();
            }
        };
        let mut turn = 0;
        // The cost and the latency of one wake. If the time did not suffice to fall asleep, nobody is woken.
        let mut wake = |idle_ns: u32| {
            spin_until(&|| ready.load(Ordering::Acquire) > turn);
            let idle = Instant::now();
            let while_idle = Duration::from_nanos(idle_ns.into());
            spin_until(&|| idle.elapsed() >= while_idle);
            let start = begin.elapsed();
            turn += 1;
            round.store(turn, Ordering::Release);
            let woken = futex_wake(&round);
            let end = begin.elapsed();
            spin_until(&|| ready.load(Ordering::Acquire) > turn);
            let awake = awake_at.load(Ordering::Acquire) as f64;
            woken.then(|| ((end - start).as_nanos() as f64, awake - start.as_nanos() as f64))
        };
        while begin.elapsed() < WARM_UP && !thread.is_finished() {
            wake(IDLE_NS[IDLE_NS.len() / 2]);
        }
        for idle_ns in IDLE_NS {
            let since = Instant::now();
            let more = |_: &u32| since.elapsed() < TIME && !thread.is_finished();
            let (costs, latencies): (Vec<f64>, Vec<f64>) =
                (0..SAMPLES).take_while(more).filter_map(|_| wake(idle_ns)).unzip();
            let medians = lower_median(costs).zip(lower_median(latencies));
            let idle = f64::from(idle_ns);
            all.extend(medians.map(|(cost, latency)| Woken { idle, cost, latency }));
        }
        over.store(true, Ordering::Release);
        futex_wake(&round);
        let slept = thread.join().unwrap_or(Err(MeasureError::NoProcessor));
        here?;
        slept
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{GoingIdle, Waking, Woken, of};

    fn after(idle_us: f64, cost: f64, latency: f64) -> Woken {
        Woken { idle: 1000.0 * idle_us, cost, latency }
    }

    #[test]
    fn processors_that_are_as_quick_after_a_long_time_have_no_deeper_state() {
        let waking = of(&[after(10.0, 2_000.0, 5_000.0), after(1_000.0, 9_000.0, 6_000.0)]);
        let expected = Waking {
            cost_ns: 2_000.0,
            delay_ns: 3_000.0,
            going: None,
            deep_after_us: 0.0,
            deep_exit_ns: 0.0,
        };
        assert_eq!(waking, Some(expected));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_deeper_state_begins_where_wakes_take_longer() {
        let latencies = [(10.0, 5_000.0), (100.0, 6_000.0), (400.0, 24_000.0), (900.0, 30_000.0)];
        let all = latencies.map(|(idle, latency)| after(idle, 6_000.0, latency));
        let waking = of(&all).expect("some woke");
        assert_eq!((waking.deep_after_us, waking.deep_exit_ns), (200.0, 25_000.0));
        // It ran before its waker's call was over.
        assert_eq!(waking.delay_ns, 1.0);
    }

    #[test]
    fn who_wakes_a_thread_whose_processor_goes_idle_pays_less() {
        let going = [after(2.0, 500.0, 12_000.0), after(4.0, 600.0, 10_000.0)];
        let idle = [after(16.0, 6_000.0, 20_000.0), after(64.0, 6_200.0, 21_000.0)];
        let all = [&going[..], &[after(9.0, 900.0, 5_000.0)], &idle].concat();
        let waking = of(&all).expect("some woke");
        // Between 9 and 16 µs. Whoever was woken meanwhile ran 14 µs after it went to sleep.
        let expected = GoingIdle { entry_ns: 12_000.0, return_ns: 2_000.0 };
        assert_eq!(waking.going, Some(expected));
        // At 16 µs, it may not have halted yet.
        assert_eq!((waking.cost_ns, waking.delay_ns), (6_200.0, 14_800.0));
        // The thread may not have left yet.
        let leaving = of(&[&[after(1.0, 6_000.0, 9_000.0)], &all[..]].concat());
        assert_eq!(leaving.expect("some woke").going, Some(expected));
        // Two may be chance, and what happens after the processor was idle is something else.
        for some in [&all[1..], &[&idle[..1], &all[..]].concat()] {
            assert_eq!(of(some).expect("some woke").going, None);
        }
    }
}
