//! Profiles of runs that never were: what threads did, and what each account tells of it.
//!
//! The windows, the looks from outside and the recorder's counts tell of the same threads, as they do of
//! a real program, or each of them what it likes, as if it had missed a part of the run.

use kilocore_lock_profile::thread_account::{
    Account, Event, EventKind, Nanoseconds, Reason, Thread, ThreadId, Word, WordKind,
};
use kilocore_lock_profile::{
    Awake, Caller, Condition, CpuLimit, Family, Frame, Handoffs, Histogram, Host, Interval,
    KernelLockKind, KernelLockWaits, Lock, Outside, Precision, Process, Profile, ReadSide, Run,
    SpinPlace, ThreadTimes, Threads, Watching,
};
use proptest::prelude::*;

/// Shares of a thread's time, in per cents: it computes, spins, waits for a lock, for work, sleeps, waits
/// for the end of another and for a lock of the kernel. In what is left it has no core.
type ActivityShares = [u64; 7];

const COMPUTES: usize = 0;
const SPINS: usize = 1;
const LOCKS: usize = 2;
const WORK: usize = 3;
const SLEEPS: usize = 4;
const ENDS: usize = 5;
const KERNEL: usize = 6;

const LOCK_WORD: u64 = 0x10;
const WORK_WORD: u64 = 0x20;
const END_WORD: u64 = 0x30;

fn doing() -> impl Strategy<Value = ActivityShares> {
    let part = || prop_oneof![2 => Just(0_u64), 1 => 0..=100_u64, 1 => 0..=4_u64];
    let computes = prop_oneof![Just(0_u64), Just(100), 0..=100_u64];
    let parts = (computes, part(), part(), part(), part(), part(), part());
    parts.prop_map(|(computes, spins, locks, work, sleeps, ends, kernel)| {
        let mut left = 100;
        [computes, spins, locks, work, sleeps, ends, kernel].map(|share| {
            let share = share.min(left);
            left -= share;
            share
        })
    })
}

fn sum(threads: &[ActivityShares], part: usize) -> f64 {
    threads.iter().map(|doing| doing[part]).sum::<u64>() as f64 / 100.0
}

/// How threads were watched.
#[derive(Debug, Clone)]
struct Windows {
    count: u64,
    each_ns: u64,
    kernel_seen: bool,
    /// Whether a timer found what threads do on their cores.
    ticks: bool,
    interpreter: bool,
}

impl Windows {
    /// How long they were, all together.
    fn time(&self) -> Nanoseconds<f64> {
        Nanoseconds(self.count * self.each_ns).calculated()
    }

    fn times(&self, threads: &[ActivityShares], cores: u32) -> ThreadTimes {
        const TICKS: u64 = 20;
        let mut account = Account::new();
        account.on_cores(cores);
        let word = |address| Word { space: 42, address };
        let reasons = [
            (LOCKS, Reason::Futex(word(LOCK_WORD))),
            (WORK, Reason::Futex(word(WORK_WORD))),
            (SLEEPS, Reason::Sleep),
            (ENDS, Reason::Futex(word(END_WORD))),
            (KERNEL, Reason::KernelLock),
        ];
        for window in 0..self.count {
            let begin = window * 3 * self.each_ns;
            let at = |percent: u64| begin + self.each_ns * percent / 100;
            account.begin_window(Nanoseconds(begin));
            let mut take = |at, thread: u32, what| {
                account.take(&Event { at: Nanoseconds(at), thread: ThreadId(thread), what });
            };
            for (thread, doing) in (42..).zip(threads) {
                let on_core = doing[COMPUTES] + doing[SPINS];
                for tick in (0..TICKS).filter(|_| self.ticks && on_core > 0) {
                    let spins = tick * on_core >= TICKS * doing[COMPUTES];
                    take(
                        at(on_core * tick / TICKS),
                        thread,
                        EventKind::Tick { kernel: false, spins },
                    );
                }
                let mut until = on_core;
                for (part, reason) in reasons {
                    if doing[part] > 0 {
                        take(at(until), thread, EventKind::Out(reason));
                        until += doing[part];
                        take(at(until), thread, EventKind::Waking { by: None });
                        take(at(until), thread, EventKind::In);
                    }
                }
                if until < 100 {
                    take(at(until), thread, EventKind::Out(Reason::Preempted));
                }
            }
            account.end_window(Nanoseconds(begin + self.each_ns));
        }
        let observed = self.count * self.each_ns;
        if self.kernel_seen {
            let ns = (sum(threads, KERNEL) * observed as f64) as u64;
            let waits = KernelLockWaits {
                kind: KernelLockKind::Writing,
                name: "mmap_lock".to_owned(),
                functions: vec!["__vm_munmap".to_owned(), "__x64_sys_munmap".to_owned()],
                waited: Nanoseconds(ns),
                count: 1_000,
                threads: 2,
            };
            account.kernel_locks(if ns > 0 { vec![waits] } else { Vec::new() });
        }
        let spins = (sum(threads, SPINS) * 100.0) as u64;
        if self.ticks && spins > 0 {
            let function = "spin_until".to_owned();
            account.spins(vec![SpinPlace { function, samples: spins, ..SpinPlace::default() }]);
        }
        let named = |id: u32| Thread {
            id: ThreadId(id),
            process: 42,
            name: format!("w-{id}"),
            function: None,
            main: id == 42,
        };
        let all: Vec<Thread> = (42..).take(threads.len()).map(named).collect();
        let kind = |word: Word| match word.address {
            LOCK_WORD if self.interpreter => WordKind::GlobalInterpreterLock,
            LOCK_WORD => WordKind::Lock,
            WORK_WORD => WordKind::Condition,
            _ => WordKind::Join,
        };
        let name = |word: Word| match word.address {
            LOCK_WORD => "Store::put (store.cc:97)".to_owned(),
            WORK_WORD => "Queue::pop (queue.cc:31)".to_owned(),
            _ => String::new(),
        };
        account.finish(&all, &kind, &name)
    }
}

/// How a lock was used. Its waits are a part of all.
#[derive(Debug, Clone, Copy)]
struct Used {
    family: Family,
    acquisitions: u64,
    contended: f64,
    hold_ns: f64,
    part_of_waits: u32,
    recursive: bool,
    /// How many times as long the longest mean hold is that the windows allow.
    hold_known_within: f64,
    counted: bool,
}

fn used() -> impl Strategy<Value = Used> {
    let family = prop_oneof![4 => Just(Family::Mutex), 1 => Just(Family::ReadWrite), 1 => Just(Family::Spin)];
    let acquisitions = prop_oneof![Just(1_u64), Just(30), Just(900), Just(20_000), Just(1_000_000)];
    let hold = prop_oneof![Just(60.0), Just(900.0), Just(40_000.0)];
    let within = prop_oneof![Just(1.2), Just(20.0)];
    (family, acquisitions, share(), hold, 0..=5_u32, any::<bool>(), within, any::<bool>()).prop_map(
        |(family, acquisitions, contended, hold_ns, part_of_waits, recursive, within, counted)| {
            Used {
                family,
                acquisitions,
                contended,
                hold_ns,
                part_of_waits,
                recursive,
                hold_known_within: within,
                counted,
            }
        },
    )
}

fn durations(count: u64, ns: f64) -> Histogram {
    let buckets = if count > 0 { vec![(ns / 1.1, count)] } else { Vec::new() };
    Histogram { count, sum: Nanoseconds(ns * count as f64), buckets }
}

fn frame(function: &str, offset: u64) -> Frame {
    Frame { function: function.into(), module: "/bin/program".into(), offset, line: None }
}

impl Used {
    /// The lock, with so much of all waits, held for no longer than its threads were on cores. What is
    /// known of a lock that was watched is less.
    fn lock(
        mut self,
        id: u32,
        [waited_ns, busy_ns]: [f64; 2],
        windows: Option<&Windows>,
        interpreter: bool,
    ) -> Lock {
        // Readers have three acquisitions for each of a writer.
        let most = busy_ns / (4.0 * self.acquisitions as f64);
        self.hold_ns = self.hold_ns.min(most);
        let contended = (self.contended * self.acquisitions as f64).ceil() as u64;
        // Who waited did so for at least a moment.
        let contended = contended.min((waited_ns / 100.0) as u64);
        let site =
            vec![frame(["put", "get", "drop"][id as usize % 3], u64::from(id)), frame("main", 1)];
        let wait =
            durations(contended, if contended > 0 { waited_ns / contended as f64 } else { 0.0 });
        let count = self.acquisitions as f64;
        let precision = windows.map(|windows| Precision {
            windows: windows.count,
            window_time: windows.time(),
            writes: 300,
            acquisitions: self.counted.then_some(Interval { low: count * 0.8, high: count * 1.2 }),
            hold: self.counted.then_some(Interval {
                low: Nanoseconds(self.hold_ns),
                high: Nanoseconds(self.hold_ns * self.hold_known_within),
            }),
        });
        let what = if interpreter { "Python's global interpreter lock" } else { "Go sync.Mutex" };
        Lock {
            id,
            family: self.family,
            attributes: if self.recursive { vec!["recursive".to_owned()] } else { Vec::new() },
            address: u64::from(id) * 64,
            instances: 1,
            callers: vec![Caller {
                site: site.clone(),
                acquisitions: self.acquisitions,
                contended,
                waited: wait.sum,
            }],
            site,
            acquisitions: self.acquisitions,
            contended,
            hold: durations(self.acquisitions, self.hold_ns),
            wait,
            waiters_met: vec![contended],
            handoffs: Handoffs {
                same_core: self.acquisitions / 2,
                other_core: self.acquisitions - self.acquisitions / 2,
            },
            what: windows.map(|_| what.to_owned()),
            precision,
            read: (self.family == Family::ReadWrite).then(|| ReadSide {
                acquisitions: self.acquisitions * 3,
                hold: durations(self.acquisitions * 3, self.hold_ns),
                ..ReadSide::default()
            }),
            ..Lock::default()
        }
    }
}

pub(crate) fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..0.02_f64, 0.0..=1.0_f64, Just(1.0)]
}

/// What an account that missed a part of the run tells of it, instead of what the threads did.
#[derive(Debug, Clone, Copy)]
struct Astray {
    busy: f64,
    waits: f64,
    on_conditions: f64,
    awake: f64,
    in_futexes: f64,
}

fn astray() -> impl Strategy<Value = Astray> {
    (share(), share(), share(), share(), share()).prop_map(
        |(busy, waits, on_conditions, awake, in_futexes)| Astray {
            busy,
            waits,
            on_conditions,
            awake,
            in_futexes,
        },
    )
}

/// What is known of a run.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// How often the library was under the program, and whether it was watched.
    library: bool,
    watched: bool,
    looks: Option<u64>,
    unrecorded: Option<f64>,
    astray: Option<Astray>,
    interpreter: bool,
}

fn known() -> impl Strategy<Value = Known> {
    let looks = prop_oneof![1 => Just(None), 1 => Just(Some(5_u64)), 3 => Just(Some(1_000))];
    let unrecorded =
        prop_oneof![1 => Just(None), 2 => Just(Some(0.0)), 1 => share().prop_map(Some)];
    let flags = any::<(bool, bool)>();
    let interpreter = proptest::bool::weighted(0.2);
    (flags, looks, unrecorded, proptest::option::weighted(0.4, astray()), interpreter).prop_map(
        |((library, watched), looks, unrecorded, astray, interpreter)| Known {
            library: library || !watched,
            watched,
            looks,
            unrecorded,
            astray,
            interpreter,
        },
    )
}

prop_compose! {
    fn windows()(
        count in prop_oneof![Just(1_u64), Just(5), Just(60)],
        each_ns in prop_oneof![Just(2_000_000_u64), Just(20_000_000)],
        kernel_seen in any::<bool>(),
        ticks in proptest::bool::weighted(0.8),
    ) -> Windows {
        Windows { count, each_ns, kernel_seen, ticks, interpreter: false }
    }
}

prop_compose! {
    /// A profile of a run, perhaps with one on a single core.
    pub(crate) fn profile()(
        cores in prop_oneof![1..=4_u32, Just(16)],
        wall_ns in prop_oneof![Just(2e7), Just(2e9), Just(2e10)],
        threads in proptest::collection::vec(doing(), 1..=6),
        locks in proptest::collection::vec(used(), 0..=3),
        mut windows in windows(),
        known in known(),
        limit in proptest::option::weighted(0.2, (0.1..4.0_f64, 0..30_u64)),
        confined in proptest::bool::weighted(0.3),
    ) -> Profile {
        let all = threads.len() as f64;
        windows.interpreter = known.interpreter;
        let on_core = (sum(&threads, COMPUTES) + sum(&threads, SPINS)).min(f64::from(cores));
        let able = all.min(f64::from(cores));
        let busy = known.astray.map_or(on_core, |astray| astray.busy * able);
        let waits = known.astray.map_or(sum(&threads, LOCKS), |astray| astray.waits * all);
        let work = known.astray.map_or(sum(&threads, WORK), |astray| astray.on_conditions * all);
        let parts: u32 = locks.iter().map(|used| used.part_of_waits).sum();
        let of_waits = |used: &Used| waits * wall_ns * f64::from(used.part_of_waits) / f64::from(parts.max(1));
        let by_watching = known.watched && !known.library;
        let by_windows = by_watching.then_some(&windows);
        let each_busy = busy * wall_ns / locks.len().max(1) as f64;
        let locks: Vec<Lock> = (0..).zip(&locks).map(|(id, used)| {
            used.lock(id, [of_waits(used), each_busy], by_windows, known.interpreter)
        }).collect();
        let held: f64 = locks.iter().map(|lock| lock.held().0).sum();
        let uses: u64 = locks.iter().map(Lock::uses).sum();
        let cpu_ns = busy * wall_ns;
        let think = durations(uses, (cpu_ns - held).max(0.0) / uses.max(1) as f64);
        let conditions = if work > 0.0 {
            vec![Condition { wait: durations(500, work * wall_ns / 500.0), ..Condition::default() }]
        } else {
            Vec::new()
        };
        let process = Process {
            pid: 42,
            executable: "/bin/program".into(),
            threads: Threads {
                started: threads.len() as u64,
                locking: threads.len() as u64,
                peak: threads.len() as u64,
                cpu_time: Nanoseconds(cpu_ns),
                think,
                think_asleep: Nanoseconds(0.0),
            },
            conditions: if by_watching { Vec::new() } else { conditions },
            locks,
            ..Process::default()
        };
        let times = known.watched.then(|| windows.times(&threads, cores));
        let outside = known.looks.map(|rounds| {
            let count = |threads: f64| (threads * rounds as f64) as u64;
            let ready = all - threads.iter().flatten().sum::<u64>() as f64 / 100.0;
            let awake = known.astray.map_or(on_core + ready, |astray| astray.awake * all);
            let in_futexes = sum(&threads, LOCKS) + sum(&threads, WORK) + sum(&threads, ENDS);
            let asleep = (all - awake).max(0.0);
            let in_futexes = known.astray.map_or(in_futexes, |astray| asleep * astray.in_futexes);
            let elsewhere = (asleep - in_futexes).max(0.0);
            let asleep = [("futex", in_futexes), ("nanosleep", elsewhere)];
            let asleep = asleep.map(|(call, threads)| (call.to_owned(), count(threads)));
            Outside {
                rounds,
                threads_peak: all as u64,
                running: count(awake),
                awake: Awake {
                    rounds,
                    one: if awake < 1.5 { count(awake.min(1.0)) } else { 0 },
                },
                running_unrecorded: known.unrecorded.map(|share| count(share * awake)),
                asleep: asleep.into_iter().filter(|(_, looks)| *looks > 0).collect(),
                ..Outside::default()
            }
        });
        let watching = known.watched.then(|| Watching {
            beside_library: known.library,
            windows: windows.count,
            window_time: windows.time(),
            ..Watching::default()
        });
        let has_process = !process.locks.is_empty() || known.library;
        let run = Run {
            cores,
            wall_time: Nanoseconds(wall_ns).max(windows.time() * 3.0),
            limit: limit.map(|(cores, throttled)| CpuLimit { cores, periods: 20.max(throttled), throttled, ..CpuLimit::default() }),
            processes: if has_process { vec![process] } else { Vec::new() },
            outside,
            times,
            watching,
            ..Run::default()
        };
        let alone = confined.then(|| Run { cores: 1, outside: None, times: None, watching: None, limit: None, ..run.clone() });
        Profile {
            format: kilocore_lock_profile::FORMAT.into(),
            version: kilocore_lock_profile::FORMAT_VERSION,
            command: vec!["./program".into()],
            host: Host {
                processor: "made up".into(),
                cores,
                clock_ghz: 2.0,
                core_to_core: Some(Nanoseconds(100.0)),
                kernel: "6.1".into(),
                offline: None,
                hardware_threads: Vec::new(),
            },
            runs: [run].into_iter().chain(alone).collect(),
            trace: None,
            scaling: None,
        }
    }
}
