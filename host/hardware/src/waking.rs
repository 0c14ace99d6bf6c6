//! What it takes to wake a thread, and how that depends on how long its processor was idle.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kilocore_figures::lower_median;

use crate::MeasureError;
use crate::pinned::Pinned;
use crate::system::{futex_wait, futex_wake};

/// For how long the sleeper's processor is idle. The first is about the least that lets a thread fall asleep.
const IDLE_US: [u32; 6] = [10, 30, 100, 300, 1_000, 3_000];
/// Wakes for each of these, and the most time for it.
const SAMPLES: u32 = 60;
const TIME: Duration = Duration::from_millis(250);
/// By how much the wake has to take longer after a long time than after a short one, for idle processors to be in a
/// deeper state then.
const DEEPER: f64 = 1.3;

/// What it takes to wake a thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Waking {
    /// What it costs the waker if the sleeper's processor is idle for a moment only, in ns.
    pub(crate) cost_ns: f64,
    /// The time from the end of the waker's call until the woken thread runs then, in ns: at least 1.
    pub(crate) delay_ns: f64,
    /// After how long the processor is in a deeper state, in µs, or 0 for never.
    pub(crate) deep_after_us: f64,
    /// How much longer the wake takes from there, in ns.
    pub(crate) deep_exit_ns: f64,
}

/// The wakes of a processor that was idle for some time: medians, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Woken {
    idle_us: f64,
    /// From the beginning of the waker's call to its end.
    cost: f64,
    /// From the same beginning until the woken thread runs.
    latency: f64,
}

/// Measures it: `sleeper` is another processor, idle until it is woken. `None` if nobody ever fell asleep.
pub(crate) fn waking(waker: u32, sleeper: u32) -> Result<Option<Waking>, MeasureError> {
    let mut all = Vec::new();
    for idle_us in IDLE_US {
        all.extend(woken(waker, sleeper, idle_us)?);
    }
    Ok(of(&all))
}

fn of(all: &[Woken]) -> Option<Waking> {
    let (first, last) = (all.first()?, all.last()?);
    let extra = last.latency - first.latency;
    let deep = all.windows(2).find(|pair| pair[1].latency >= first.latency + extra / 2.0);
    let deep = deep.filter(|_| last.latency > DEEPER * first.latency);
    Some(Waking {
        cost_ns: first.cost,
        // A thread may run before its waker's call is over: then nothing is left to wait for.
        delay_ns: (first.latency - first.cost).max(1.0),
        deep_after_us: deep.map_or(0.0, |pair| (pair[0].idle_us * pair[1].idle_us).sqrt()),
        deep_exit_ns: deep.map_or(0.0, |_| extra),
    })
}

fn woken(waker: u32, sleeper: u32, idle_us: u32) -> Result<Option<Woken>, MeasureError> {
    let round = AtomicU32::new(0);
    let (ready, awake_at) = (AtomicU32::new(0), AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let begin = Instant::now();
    let (mut costs, mut latencies) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _there = Pinned::to(sleeper)?;
            for turn in 0..SAMPLES {
                ready.store(turn + 1, Ordering::Release);
                while round.load(Ordering::Acquire) == turn && !over.load(Ordering::Acquire) {
                    futex_wait(&round, turn);
                }
                awake_at.store(begin.elapsed().as_nanos() as u64, Ordering::Release);
            }
            ready.store(u32::MAX, Ordering::Release);
            Ok(())
        });
        let here = Pinned::to(waker);
        let spin_until = |done: &dyn Fn() -> bool| {
            while !done() && !thread.is_finished() {
                std::hint::spin_loop();
            }
        };
        for turn in 0..SAMPLES {
            spin_until(&|| ready.load(Ordering::Acquire) > turn);
            let idle = Instant::now();
            let while_idle = Duration::from_micros(idle_us.into());
            spin_until(&|| idle.elapsed() >= while_idle);
            let start = begin.elapsed();
            round.store(turn + 1, Ordering::Release);
            // If the time did not suffice to fall asleep, nobody is woken and the sample is dropped.
            let woken = futex_wake(&round);
            let end = begin.elapsed();
            spin_until(&|| ready.load(Ordering::Acquire) > turn + 1);
            if woken {
                let awake = awake_at.load(Ordering::Acquire) as f64;
                costs.push((end - start).as_nanos() as f64);
                latencies.push(awake - start.as_nanos() as f64);
            }
            if begin.elapsed() > TIME || thread.is_finished() {
                break;
            }
        }
        over.store(true, Ordering::Release);
        futex_wake(&round);
        let slept = thread.join().unwrap_or(Err(MeasureError::NoProcessor));
        here?;
        slept
    })?;
    let medians = lower_median(costs).zip(lower_median(latencies));
    let idle_us = f64::from(idle_us);
    Ok(medians.map(|(cost, latency)| Woken { idle_us, cost, latency }))
}

#[cfg(test)]
mod tests {
    use super::{Waking, Woken, of};

    fn after(idle_us: f64, cost: f64, latency: f64) -> Woken {
        Woken { idle_us, cost, latency }
    }

    #[test]
    fn processors_that_are_as_quick_after_a_long_time_have_no_deeper_state() {
        let waking = of(&[after(10.0, 2_000.0, 5_000.0), after(1_000.0, 9_000.0, 6_000.0)]);
        let expected =
            Waking { cost_ns: 2_000.0, delay_ns: 3_000.0, deep_after_us: 0.0, deep_exit_ns: 0.0 };
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
}
