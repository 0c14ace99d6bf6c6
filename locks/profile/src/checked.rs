//! What the windows show, held against what is known of the whole run.
//!
//! Findings are made from short windows. The recorder counts the whole run, and so does the kernel
//! with the processor time. Where the two tell different things, the windows missed what the run
//! was like, and what was found in them is not said.

use kilocore_figures::Nanoseconds;

use crate::{Finding, Lock, Run, ThreadTimes};

/// From this share of the threads' time on, recorded waits are too much for none, whatever windows show.
const CONTENDED: f64 = 0.02;
/// Windows and run differ if one has so many times as many cores busy as the other,
const TIMES: f64 = 1.5;
/// and by at least so many cores. The cost of the windows and the program's start are less.
const CORES: f64 = 0.5;

impl Run {
    /// Returns how many cores the program kept busy by its processor time, if that is known: of the whole
    /// run, or else of what was recorded, with the part of it that looks tell.
    #[must_use]
    pub fn busy_cores(&self) -> Option<f64> {
        if let Some(used) = self.cpu_time.filter(|used| used.0 > 0.0) {
            return Some((used / self.wall_time.max(Nanoseconds(1.0))).min(f64::from(self.cores)));
        }
        let outside = self.outside.as_ref()?;
        let part = 1.0 - outside.running_unrecorded? as f64 / outside.running.max(1) as f64;
        let recorded = self.recorded_cores();
        let known = recorded > 0.0 && part > 0.0;
        known.then(|| (recorded / part).min(f64::from(self.cores)))
    }

    /// How many threads ran or were ready to run, on average, if enough looks tell.
    fn awake_cores(&self) -> Option<f64> {
        let outside = self.outside.as_ref().filter(|outside| outside.is_enough())?;
        Some(outside.running as f64 / outside.rounds as f64)
    }

    /// How many cores the recorded processes kept busy.
    fn recorded_cores(&self) -> f64 {
        let used = self.processes.iter().map(|process| process.threads.cpu_time);
        used.sum::<Nanoseconds<f64>>() / self.wall_time.max(Nanoseconds(1.0))
    }

    /// Returns where the threads' time went, without findings that the rest of the run contradicts.
    /// In their place it is said that it does.
    #[must_use]
    pub fn checked_times(&self) -> Option<ThreadTimes> {
        let mut times = self.times.clone()?;
        if !times.is_enough() {
            return Some(times);
        }
        let observed = times.observed;
        let total = times.total();
        // Each core's events begin a moment apart, and so they may add up to more cores than there are.
        let cores = f64::from(self.cores);
        let windows = (total.computing().share_of(observed)).min(cores);
        let threads = total.present().share_of(observed);
        let known = self.busy_cores();
        let run = known.unwrap_or_else(|| self.recorded_cores()).min(cores);
        let differ = |more: f64, less: f64| more > TIMES * less && more - less > CORES;
        let mut said = Vec::new();
        // What was found running by looks may have lacked a core. It was not less.
        let most = known.or(self.awake_cores().map(|awake| awake.max(run)));
        let other = most
            .filter(|&most| differ(windows, most))
            .or(Some(run).filter(|&run| differ(run, windows)));
        if let Some(run) = other {
            times.findings.retain(|finding| !finding.is_of_busy_cores());
            said.push(Finding::WindowsDiffer { windows, run });
        }
        let locks = self.processes.iter().flat_map(|process| &process.locks);
        let waits = locks.map(Lock::waited).sum::<Nanoseconds<f64>>();
        let waited = (waits / (self.wall_time * threads).max(Nanoseconds(1.0))).min(1.0);
        if waited >= CONTENDED {
            times.findings.retain(|finding| match finding {
                Finding::NoContention { wait, .. } => {
                    said.push(Finding::WaitsDiffer { windows: *wait, run: waited });
                    false
                }
                _ => true,
            });
        }
        times.findings.extend(said);
        Some(times)
    }
}

impl Finding {
    /// Whether it says how many cores were busy in the windows.
    fn is_of_busy_cores(&self) -> bool {
        matches!(
            self,
            Self::OneBusyThread { .. } | Self::GlobalLock { .. } | Self::NotEnoughCores { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activities, Histogram, Outside, Process, RoleTimes, Threads, TimesCoverage};

    const WINDOWS: Nanoseconds = Nanoseconds(100_000_000);

    /// A second in which a process used so much processor time, and waited so long for its lock;
    /// and 100 ms of windows, in which two threads kept a core busy.
    fn run(cpu_ms: f64, waited_ms: f64) -> Run {
        let busy = Finding::OneBusyThread {
            role: 0,
            name: "server".into(),
            busy: 1.0,
            others: 1,
            others_cores: 0.0,
            others_wait: 1.0,
        };
        let quiet = Finding::NoContention { wait: 0.0, known: 1.0 };
        let activities = Activities { undivided: WINDOWS, sleep: WINDOWS, ..Activities::default() };
        let times = ThreadTimes {
            observed: WINDOWS,
            roles: vec![RoleTimes { times: activities, ..RoleTimes::default() }],
            coverage: TimesCoverage::default(),
            findings: vec![busy, quiet],
            ..ThreadTimes::default()
        };
        let wait = Histogram { sum: Nanoseconds(waited_ms * 1e6), ..Histogram::default() };
        let threads = Threads { cpu_time: Nanoseconds(cpu_ms * 1e6), ..Threads::default() };
        let locks = vec![Lock { wait, ..Lock::default() }];
        let processes = vec![Process { threads, locks, ..Process::default() }];
        let outside = Outside { running_unrecorded: Some(0), ..Outside::default() };
        Run {
            wall_time: Nanoseconds(1e9),
            cores: 2,
            processes,
            outside: Some(outside),
            times: Some(times),
            ..Run::default()
        }
    }

    fn said(run: &Run) -> Vec<String> {
        let times = run.checked_times().expect("it was watched");
        times.findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_run_does_not_contradict_is_said() {
        let said = said(&run(1_200.0, 10.0));
        assert!(said[0].starts_with("One busy thread"), "{said:?}");
        assert!(said[1].starts_with("No contention"), "{said:?}");
    }

    #[test]
    fn what_it_does_is_not_said_but_that_it_does() {
        let said_of = |cpu, waited| said(&run(cpu, waited));
        assert_eq!(
            said_of(2_000.0, 600.0),
            [
                "The windows do not show what the whole run was like: threads kept 1.0 cores busy in \
                 them, and 2.0 over the whole run. So it is not said here how many are busy.",
                "The windows do not show what the whole run was like: threads waited for locks 0 % of \
                 their time in them, and 30 % over the whole run.",
            ]
        );
        let less = said_of(300.0, 0.0);
        assert!(less[1].contains("1.0 cores busy in them, and 0.3 over"), "{less:?}");
        let mut unrecorded = run(300.0, 0.0);
        unrecorded.outside = None;
        assert!(said(&unrecorded)[0].starts_with("One busy thread"));
    }
}
