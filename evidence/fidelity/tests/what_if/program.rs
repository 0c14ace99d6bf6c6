//! The planted program: its parameters, what a change makes of them, and what the program then does.

use kilocore_forecast::{
    Barriers, Change, Duration, Hot, Inner, LockUse, Mode, READ_ONLY, Range, Section, Workload,
};
use kilocore_locks::RwLockId;

/// Threads of the measured program, each with a core.
pub(crate) const THREADS: u32 = 2;
/// Computing of all threads together, about, in nanoseconds. No run takes more than a second, even on one
/// core: real-time programs lose their cores to others after that.
const COMPUTING_NS: f64 = 650_000_000.0;
/// The number of sections is a multiple of this, so that threads and rounds have whole numbers of them.
const SECTIONS_STEP: u32 = 400;
/// Mean thinking, in nanoseconds.
pub(crate) const THINK_NS: f64 = 20_000.0;
/// Ranges by which exponential durations are described.
const RANGES: u32 = 1_000;

/// What the program's locks are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Mutex,
    ReadWrite,
    PerThread,
}

impl Kind {
    /// As the program's arguments say it.
    fn letter(self) -> &'static str {
        match self {
            Self::Mutex => "m",
            Self::ReadWrite => "r",
            Self::PerThread => "o",
        }
    }

    /// So many locks of this kind.
    fn locks(self, instances: u32) -> LockUse {
        LockUse {
            instances,
            per_thread: self == Self::PerThread,
            read_write: (self == Self::ReadWrite).then_some(RwLockId::CentralRw),
            ..LockUse::ONE
        }
    }

    /// The sections under such a lock, of which `section` is one that writes.
    fn modes(self, section: Section) -> Vec<(f64, Section)> {
        if self != Self::ReadWrite {
            return vec![(1.0, section)];
        }
        let reading = Section { mode: Mode::Shared, ..section.clone() };
        vec![(READ_ONLY, reading), (1.0 - READ_ONLY, section)]
    }
}

/// The parameters of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planted {
    pub(crate) name: &'static str,
    pub(crate) hold_ns: f64,
    /// Lines of data that are written under a lock.
    pub(crate) lines: u32,
    pub(crate) locks: u32,
    /// Of the thinking of all threads.
    pub(crate) serial_share: f64,
    /// Sections of all threads together.
    pub(crate) sections: u32,
    /// Rounds that end in a barrier. One round has none.
    pub(crate) rounds: u32,
    /// The share of all uses that the first of the locks get together, or 0 if all are used equally.
    pub(crate) hot: f64,
    /// How many these locks are.
    hots: u32,
    /// For how long a lock is held that is taken inside, or 0 if there is none.
    pub(crate) inner_ns: f64,
    inner_locks: u32,
    inner_kind: Kind,
    /// Whether that one is what is changed.
    of_inner: bool,
    before_ns: f64,
    kind: Kind,
}

const PLAIN: Planted = Planted {
    name: "",
    hold_ns: 0.0,
    lines: 0,
    locks: 1,
    serial_share: 0.0,
    sections: 0,
    rounds: 1,
    hot: 0.0,
    hots: 1,
    inner_ns: 0.0,
    inner_locks: 1,
    inner_kind: Kind::Mutex,
    of_inner: false,
    before_ns: 0.0,
    kind: Kind::Mutex,
};

/// The programs that are changed.
pub(crate) fn programs() -> [Planted; 14] {
    [
        Planted { name: "light", hold_ns: 100.0, ..PLAIN },
        Planted { name: "short", hold_ns: 500.0, ..PLAIN },
        Planted { name: "short, data", hold_ns: 500.0, lines: 4, ..PLAIN },
        Planted { name: "medium", hold_ns: 2_000.0, ..PLAIN },
        Planted { name: "long, data", hold_ns: 10_000.0, lines: 4, ..PLAIN },
        Planted { name: "longest", hold_ns: 20_000.0, ..PLAIN },
        Planted { name: "four locks", hold_ns: 10_000.0, lines: 2, locks: 4, ..PLAIN },
        Planted { name: "serial", hold_ns: 1_000.0, serial_share: 0.1, ..PLAIN },
        Planted { name: "barriers", hold_ns: 1_000.0, rounds: 100, ..PLAIN },
        Planted {
            name: "all",
            hold_ns: 5_000.0,
            lines: 2,
            serial_share: 0.05,
            rounds: 100,
            ..PLAIN
        },
        Planted { name: "unequal", hold_ns: 5_000.0, locks: 8, hot: 0.5, ..PLAIN },
        Planted {
            name: "unequal, data",
            hold_ns: 10_000.0,
            lines: 2,
            locks: 16,
            hot: 0.25,
            ..PLAIN
        },
        Planted { name: "outer", hold_ns: 5_000.0, inner_ns: 1_000.0, ..PLAIN },
        Planted {
            name: "inner",
            hold_ns: 1_000.0,
            locks: 16,
            inner_ns: 4_000.0,
            of_inner: true,
            ..PLAIN
        },
    ]
    .map(Planted::as_long_as_may_be)
}

impl Planted {
    fn as_long_as_may_be(self) -> Self {
        let each = THINK_NS * (1.0 + self.serial_share) + self.hold_ns + self.inner_ns;
        let steps = COMPUTING_NS / each / f64::from(SECTIONS_STEP);
        Self { sections: steps as u32 * SECTIONS_STEP, ..self }
    }

    fn serial_ns(&self) -> f64 {
        self.serial_share * THINK_NS * f64::from(self.sections)
    }

    /// The program after a change, or `None` if there is nothing to change.
    pub(crate) fn after(self, change: Change) -> Option<Self> {
        if self.of_inner {
            return self.after_change_inside(change);
        }
        let Self { hold_ns, lines, locks, hots, serial_share, rounds, .. } = self;
        Some(match change {
            Change::HalfAsLong => Self { hold_ns: hold_ns / 2.0, lines: lines / 2, ..self },
            Change::HalfBefore => Self { hold_ns: hold_ns / 2.0, before_ns: hold_ns / 2.0, ..self },
            Change::Split(parts) => Self { locks: locks * parts, hots: hots * parts, ..self },
            Change::ReadersShare => Self { kind: Kind::ReadWrite, ..self },
            Change::PerThread => Self { kind: Kind::PerThread, locks: 1, hot: 0.0, ..self },
            Change::HalfTheBarriers if rounds == 1 => return None,
            Change::HalfTheBarriers => Self { rounds: rounds / 2, ..self },
            Change::HalfTheSerialPart if serial_share == 0.0 => return None,
            Change::HalfTheSerialPart => Self { serial_share: serial_share / 2.0, ..self },
        })
    }

    /// The same of a change of the lock that is taken inside.
    fn after_change_inside(self, change: Change) -> Option<Self> {
        let Self { hold_ns, inner_ns, inner_locks, .. } = self;
        let half = inner_ns / 2.0;
        Some(match change {
            Change::HalfAsLong => Self { inner_ns: half, ..self },
            Change::HalfBefore => Self { inner_ns: half, hold_ns: hold_ns + half, ..self },
            Change::Split(parts) => Self { inner_locks: inner_locks * parts, ..self },
            Change::ReadersShare => Self { inner_kind: Kind::ReadWrite, ..self },
            Change::PerThread => Self { inner_kind: Kind::PerThread, inner_locks: 1, ..self },
            Change::HalfTheBarriers | Change::HalfTheSerialPart => return None,
        })
    }

    /// For how long the lock is held that is changed, without what is taken inside.
    pub(crate) fn changed_hold_ns(&self) -> f64 {
        if self.of_inner { self.inner_ns } else { self.hold_ns }
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        vec![
            THREADS.to_string(),
            self.rounds.to_string(),
            (self.sections / THREADS / self.rounds).to_string(),
            THINK_NS.to_string(),
            self.hold_ns.to_string(),
            self.before_ns.to_string(),
            self.lines.to_string(),
            self.locks.to_string(),
            self.kind.letter().to_owned(),
            self.serial_ns().to_string(),
            self.hot.to_string(),
            self.hots.to_string(),
            self.inner_ns.to_string(),
            self.inner_locks.to_string(),
            self.inner_kind.letter().to_owned(),
        ]
    }

    /// What the program does, in cycles of the clock that it is measured by.
    pub(crate) fn truth(&self, ghz: f64) -> Workload {
        let hot = Hot { instances: self.hots, share: self.hot };
        let of_lock =
            LockUse { hot: (self.hot > 0.0).then_some(hot), ..self.kind.locks(self.locks) };
        let cycles = |ns: f64| Duration::Constant(ns * ghz);
        let think = exponential_after(THINK_NS * ghz, self.before_ns * ghz);
        let lines = f64::from(self.lines);
        let workload = Workload::single_lock(think, cycles(self.hold_ns), lines);
        let (_, mut section) = workload.sections[0].clone();
        if self.inner_ns > 0.0 {
            let hold = cycles(self.inner_ns);
            let inner = Section { lock: 1, hold, lines: 0.0, ..section.clone() };
            let each = self.inner_kind.modes(inner).into_iter();
            section.inner = each.map(|(times, section)| Inner { times, section }).collect();
        }
        let barriers = Barriers {
            sections: f64::from(self.sections / self.rounds),
            imbalance: 0.0,
            lock: None,
        };
        Workload {
            serial: self.serial_share * THINK_NS * ghz,
            barriers: (self.rounds > 1).then_some(barriers),
            locks: vec![of_lock, self.inner_kind.locks(self.inner_locks)],
            sections: self.kind.modes(section),
            ..workload
        }
    }
}

/// Durations of which each is `before` and an exponential one with this mean.
fn exponential_after(mean: f64, before: f64) -> Duration {
    if before == 0.0 {
        return Duration::Exponential(mean);
    }
    let share = |range: u32| f64::from(range) / f64::from(RANGES);
    let to = |range| before - mean * (1.0 - share(range)).ln();
    // Beyond the last of the ranges are those that last a mean longer on average.
    let last = RANGES - 1;
    let ranges = (1..=last).map(|r| Range { up_to: share(r), low: to(r - 1), high: to(r) });
    let rest = Range { up_to: 1.0, low: to(last), high: to(last) + 2.0 * mean };
    Duration::Observed(ranges.chain([rest]).collect())
}

/// How many times as high throughput would be if all of it scaled with what is changed.
pub(crate) fn if_all_scaled(change: Change, cores: u32) -> f64 {
    match change {
        Change::HalfAsLong
        | Change::HalfBefore
        | Change::HalfTheBarriers
        | Change::HalfTheSerialPart => 2.0,
        Change::Split(parts) => f64::from(parts),
        Change::ReadersShare => 1.0 / (1.0 - READ_ONLY),
        Change::PerThread => f64::from(cores),
    }
}
