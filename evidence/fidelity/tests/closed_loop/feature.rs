//! Programs with what profiles may lose: locks that are used unequally, nesting, polling, queues, helpers, and more
//! threads than cores.

use kilocore_forecast::{Duration, Hot, Inner, LockUse, Section, Workload};

use crate::{SECTIONS, THINK_NS, THREADS};

/// A program with one such feature, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    /// What tells it from others with the same feature.
    pub(crate) how: &'static str,
    pub(crate) hold_ns: f64,
    pub(crate) threads: u32,
    locks: u32,
    /// The share of all uses that is of the first lock.
    hot: f64,
    /// For how long the inner lock is held, in nanoseconds.
    inner_ns: f64,
    /// Computing between two tries, in nanoseconds.
    poll_ns: f64,
    helpers: u32,
    /// Room in the queue; without it, there is none.
    room: u32,
}

const PLAIN: Feature = Feature {
    name: "",
    how: "",
    hold_ns: 0.0,
    threads: THREADS,
    locks: 1,
    hot: 1.0,
    inner_ns: 0.0,
    poll_ns: 0.0,
    helpers: 0,
    room: 0,
};

impl Feature {
    /// The programs of which the model says all that matters.
    pub(crate) fn all() -> Vec<Self> {
        let unequal = Self { name: "unequal use", ..PLAIN };
        let nested = Self { name: "nesting", ..PLAIN };
        let polled = Self { name: "polling", ..PLAIN };
        let helped = Self { name: "helpers", ..PLAIN };
        let crowded = Self { name: "more threads", ..PLAIN };
        let of = |how, hold_ns, feature: Self| Self { how, hold_ns, ..feature };
        let half = Self { locks: 8, hot: 0.5, ..unequal };
        let many = Self { locks: 64, hot: 0.25, ..unequal };
        let inside = |inner_ns| Self { inner_ns, ..nested };
        let polls = |poll_ns| Self { poll_ns, ..polled };
        vec![
            of("half of 8", 1_000.0, half),
            of("half of 8", 5_000.0, half),
            of("a quarter of 64", 1_000.0, many),
            of("a quarter of 64", 5_000.0, many),
            of("500 ns inside one", 500.0, inside(500.0)),
            of("2 µs inside one", 2_000.0, inside(2_000.0)),
            of("500 ns inside 8", 1_000.0, Self { locks: 8, hot: 0.125, ..inside(500.0) }),
            of("2 µs inside 8", 4_000.0, Self { locks: 8, hot: 0.125, ..inside(2_000.0) }),
            of("every 50 ns", 500.0, polls(50.0)),
            of("every 50 ns", 2_000.0, polls(50.0)),
            of("every 1 µs", 500.0, polls(1_000.0)),
            of("every 1 µs", 2_000.0, polls(1_000.0)),
            of("1", 500.0, Self { helpers: 1, ..helped }),
            of("1", 2_000.0, Self { helpers: 1, ..helped }),
            of("4", 500.0, Self { helpers: 4, ..helped }),
            of("4", 2_000.0, Self { helpers: 4, ..helped }),
            of("8 on 2 cores", 500.0, Self { threads: 8, ..crowded }),
            of("8 on 2 cores", 2_000.0, Self { threads: 8, ..crowded }),
            of("32 on 2 cores", 500.0, Self { threads: 32, ..crowded }),
            of("32 on 2 cores", 2_000.0, Self { threads: 32, ..crowded }),
        ]
    }

    /// The programs of which it does not: there are no roles and no conditions in it.
    pub(crate) fn queues() -> Vec<Self> {
        let queue = Self { name: "queue", room: 16, ..PLAIN };
        let of = |how, hold_ns, threads, room| Self { how, hold_ns, threads, room, ..queue };
        vec![
            of("2 threads, room for 16", 500.0, 2, 16),
            of("2 threads, room for 16", 5_000.0, 2, 16),
            of("2 threads, room for 1", 500.0, 2, 1),
            of("2 threads, room for 1", 5_000.0, 2, 1),
            of("8 threads, room for 16", 500.0, 8, 16),
            of("8 threads, room for 16", 5_000.0, 8, 16),
        ]
    }

    /// Whether threads have to be given turns. Helpers need none, as they go first.
    pub(crate) fn takes_turns(&self) -> bool {
        self.threads > THREADS
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        vec![
            self.threads.to_string(),
            SECTIONS.to_string(),
            THINK_NS.to_string(),
            self.hold_ns.to_string(),
            self.locks.to_string(),
            self.hot.to_string(),
            self.inner_ns.to_string(),
            self.poll_ns.to_string(),
            self.helpers.to_string(),
            self.room.to_string(),
        ]
    }

    /// What the program does, in cycles of the clock that it was measured by. Helpers are left out.
    pub(crate) fn truth(&self, ghz: f64) -> Workload {
        assert_eq!(self.room, 0, "queues cannot be said");
        let cycles = |ns: f64| Duration::Constant(ns * ghz);
        let think = Duration::Exponential(THINK_NS * ghz);
        let mut workload = Workload::single_lock(think, cycles(self.hold_ns), 0.0);
        workload.locks[0].instances = self.locks;
        workload.locks[0].hot = (self.locks > 1).then_some(Hot { instances: 1, share: self.hot });
        let (_, section) = &mut workload.sections[0];
        section.polled = (self.poll_ns > 0.0).then_some(self.poll_ns * ghz);
        if self.inner_ns > 0.0 {
            workload.locks.push(LockUse::ONE);
            let inner = Section { lock: 1, hold: cycles(self.inner_ns), ..section.clone() };
            section.inner.push(Inner { times: 1.0, section: inner });
        }
        workload
    }
}
