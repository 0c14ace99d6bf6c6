//! Profiles made up for tests.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    FORMAT, FORMAT_VERSION, Family, Frame, Handoffs, Histogram, Host, Lock, Outside, Process,
    Profile, ReadSide, Run, Threads,
};

/// `count` durations of about `ns`, in one bucket whose middle is `ns`.
pub(crate) fn durations(count: u64, ns: f64) -> Histogram {
    Histogram { count, sum: Nanoseconds(ns * count as f64), buckets: vec![(ns / 1.1, count)] }
}

pub(crate) fn frame(function: &str, offset: u64) -> Frame {
    Frame { function: function.into(), module: "/bin/program".into(), offset, line: None }
}

/// A mutex that is created by `function` and held for 200 ns at a time. Its place in the program is
/// an offset as large as the function's name is long.
pub(crate) fn mutex(id: u32, function: &str, acquisitions: u64) -> Lock {
    Lock {
        id,
        family: Family::Mutex,
        attributes: Vec::new(),
        address: u64::from(id) * 64,
        instances: 1,
        site: vec![frame(function, function.len() as u64), frame("main", 1)],
        acquisitions,
        contended: acquisitions / 10,
        failed_tries: 0,
        hold: durations(acquisitions, 200.0),
        wait: durations(acquisitions / 10, 3_000.0),
        waiters_met: vec![acquisitions / 10],
        handoffs: Handoffs { same_core: acquisitions / 2, other_core: acquisitions / 2 },
        mostly_by: None,
        ..Lock::default()
    }
}

/// A read-write lock whose shared holds last 50 ns each.
pub(crate) fn read_write(id: u32, function: &str, exclusive: u64, shared: u64) -> Lock {
    Lock {
        family: Family::ReadWrite,
        read: Some(ReadSide {
            acquisitions: shared,
            contended: 0,
            failed_tries: 0,
            hold: durations(shared, 50.0),
            ..ReadSide::default()
        }),
        ..mutex(id, function, exclusive)
    }
}

/// A run on two busy cores, whose threads think for 1 µs, `thoughts` times altogether.
pub(crate) fn run(locks: Vec<Lock>, thoughts: u64) -> Run {
    run_thinking(locks, durations(thoughts, 1_000.0))
}

/// A run on two busy cores, whose threads think as `think` says.
pub(crate) fn run_thinking(locks: Vec<Lock>, think: Histogram) -> Run {
    let mut process = Process {
        pid: 42,
        executable: "/bin/program".into(),
        threads: Threads {
            started: 2,
            locking: 2,
            peak: 2,
            cpu_time: Nanoseconds(0.0),
            think,
            think_asleep: Nanoseconds(0.0),
        },
        locks,
        ..Process::default()
    };
    process.threads.cpu_time = process.threads.think.sum
        + process.locks.iter().map(Lock::held).sum::<Nanoseconds<f64>>()
        + super::busy::operations_time(&process);
    Run {
        cores: 2,
        wall_time: process.threads.cpu_time / 2.0,
        processes: vec![process],
        ..Run::default()
    }
}

/// A profile of `runs`, on a host of 2 GHz on which moving a line takes 100 ns.
pub(crate) fn profile_of(runs: Vec<Run>) -> Profile {
    Profile {
        format: FORMAT.into(),
        version: FORMAT_VERSION,
        command: vec!["./program".into(), "an argument".into()],
        host: Host {
            processor: "made up".into(),
            cores: 2,
            clock_ghz: 2.0,
            core_to_core: Some(Nanoseconds(100.0)),
            kernel: "6.1".into(),
            offline: None,
            hardware_threads: Vec::new(),
        },
        runs,
        trace: None,
        scaling: None,
    }
}

/// A profile with a single mutex.
pub(crate) fn profile() -> Profile {
    profile_of(vec![run(vec![mutex(1, "store", 10_000)], 10_000)])
}

/// Adds to `run` what a watcher outside of the process saw in a hundred looks: how many threads
/// were found running, and how many asleep in each system call.
pub(crate) fn watched(run: Run, running: u64, asleep: &[(&str, u64)]) -> Run {
    let asleep = asleep.iter().map(|&(call, looks)| (call.to_owned(), looks)).collect();
    let outside = Outside { rounds: 100, threads_peak: 3, running, asleep, ..Outside::default() };
    Run { outside: Some(outside), ..run }
}
