//! Hardware counters as a source of metrics, played, so that hosts without any test it, too.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use kilocore_sched_daemon::{
    CounterSource, DaemonError, Host, Meter, Metrics, NoCounters, Reading, Stat, Tree,
};
use kilocore_sched_policy::{
    CacheId, Counters, CpuId, CpuSet, CpuTopology, Machine, Nanos, NodeId, PolicyName, TaskWindow,
    Window,
};

const LENGTH: Nanos = Nanos(100_000_000);

/// A program, process 1: for each thread its start time, its core, and how long it has run.
#[derive(Debug, Clone, Default)]
struct Threads(BTreeMap<u32, (u64, u32, u64)>);

fn stat(started: u64, cpu: u32) -> Stat {
    Stat { state: b'S', parent: 0, is_kernels: false, ticks: 0, started, cpu: CpuId(cpu) }
}

impl Host for Threads {
    fn processes(&mut self) -> Vec<u32> {
        vec![1]
    }
    fn threads(&mut self, _pid: u32) -> Vec<u32> {
        self.0.keys().copied().collect()
    }
    fn stat(&mut self, pid: u32) -> Option<Stat> {
        (pid == 1).then(|| stat(1, 0))
    }
    fn thread_stat(&mut self, _pid: u32, tid: u32) -> Option<Stat> {
        self.0.get(&tid).map(|(started, cpu, _)| stat(*started, *cpu))
    }
    fn times(&mut self, _pid: u32, tid: u32) -> Option<(Nanos, Nanos)> {
        self.0.get(&tid).map(|(_, _, ran)| (Nanos(*ran), Nanos(0)))
    }
    fn affinity(&mut self, _tid: u32) -> io::Result<CpuSet> {
        Ok(CpuSet::first(4))
    }
    fn set_affinity(&mut self, _tid: u32, _cpus: &CpuSet) -> io::Result<()> {
        Ok(())
    }
}

/// What a played processor counts for each thread in a window, and whom it counts.
#[derive(Debug, Default)]
struct Played {
    in_window: BTreeMap<u32, Reading>,
    now: BTreeMap<u32, Reading>,
    room: usize,
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Played>>);

impl Shared {
    fn with(room: usize, in_window: impl IntoIterator<Item = (u32, Reading)>) -> Self {
        let in_window = in_window.into_iter().collect();
        Self(Arc::new(Mutex::new(Played { in_window, now: BTreeMap::new(), room })))
    }

    fn counts(&self) -> Vec<u32> {
        self.0.lock().unwrap().now.keys().copied().collect()
    }
}

impl CounterSource for Shared {
    fn describe(&self) -> String {
        "played counters".to_owned()
    }
    fn begin(&mut self, tid: u32) -> io::Result<()> {
        let mut played = self.0.lock().unwrap();
        if played.now.len() >= played.room {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        assert!(played.now.insert(tid, Reading::default()).is_none(), "{tid} is counted already");
        Ok(())
    }
    fn read(&mut self, tid: u32) -> io::Result<Reading> {
        let mut played = self.0.lock().unwrap();
        let new = played.in_window.get(&tid).copied().unwrap_or_default();
        let now = played.now.get_mut(&tid).ok_or(io::ErrorKind::NotFound)?;
        now.enabled.0 += new.enabled.0;
        now.running.0 += new.running.0;
        now.cycles += new.cycles;
        now.instructions += new.instructions;
        now.references += new.references;
        now.misses += new.misses;
        Ok(*now)
    }
    fn end(&mut self, tid: u32) {
        assert!(self.0.lock().unwrap().now.remove(&tid).is_some(), "{tid} is not counted");
    }
}

/// Counted all the time, which is `part` hundredths of a window.
fn reading(part: u64, references: u64) -> Reading {
    let ran = Nanos(LENGTH.0 / 100 * part);
    let cycles = ran.0 * 3;
    let misses = references / 10;
    Reading { enabled: ran, running: ran, cycles, instructions: ran.0, references, misses }
}

/// Four cores, of which each two share a cache.
fn pairs() -> Machine {
    let topology = |cpu: u32| CpuTopology { thread: 0, cache: CacheId(cpu / 2), node: NodeId(0) };
    Machine::new((0..4).map(topology).collect())
}

struct Bench {
    host: Threads,
    tree: Tree,
    meter: Meter,
}

impl Bench {
    fn new(policy: PolicyName, source: &Shared, threads: &[(u32, u32)]) -> Self {
        let threads = threads.iter().map(|(tid, cpu)| (*tid, (1, *cpu, 0)));
        let mut host = Threads(threads.collect());
        let tree = Tree::of(&[1], &mut host).expect("it is there");
        let meter = Meter::with(Metrics::Proc, policy, Ok(Box::new(source.clone())));
        Self { host, tree, meter: meter.expect("there are counters") }
    }

    /// A window in which each thread runs as long as it is counted.
    fn window(&mut self, source: &Shared) -> Vec<TaskWindow> {
        for (tid, (_, _, ran)) in &mut self.host.0 {
            let in_window = &source.0.lock().unwrap().in_window;
            *ran += in_window.get(tid).map_or(0, |reading| reading.enabled.0);
        }
        self.tree.scan(&mut self.host, None).expect("nothing is written");
        self.meter.window(&self.tree, &mut self.host, &pairs(), LENGTH)
    }

    fn counters(&mut self, source: &Shared) -> Vec<Option<Counters>> {
        self.window(source).into_iter().map(|task| task.counters).collect()
    }
}

#[test]
fn threads_are_counted_from_window_to_window_and_neighbours_of_their_cache_estimated() {
    // 1 and 4 on core 0, 2 beside them on core 1, 3 under another cache.
    let counted = [(1, reading(50, 8_000)), (2, reading(100, 600)), (3, reading(25, 70_000))];
    let source = Shared::with(9, counted.into_iter().chain([(4, reading(20, 1_000))]));
    let mut bench = Bench::new(PolicyName::Complement, &source, &[(1, 0), (2, 1), (3, 2), (4, 0)]);
    assert_eq!(bench.counters(&source), [None; 4], "they are new");
    let counters = |references, part, neighbour_references, neighbour_misses| {
        let Reading { cycles, instructions, misses, .. } = reading(part, references);
        Some(Counters {
            cycles,
            instructions,
            references,
            misses,
            neighbour_references,
            neighbour_misses,
        })
    };
    let expected = [
        counters(8_000, 50, 300, 30),
        counters(600, 100, 9_000, 900),
        counters(70_000, 25, 0, 0),
        counters(1_000, 20, 120, 12),
    ];
    for _ in 0..3 {
        assert_eq!(bench.counters(&source), expected);
    }
}

#[test]
fn a_number_that_is_used_again_is_counted_from_nothing() {
    let source = Shared::with(9, [(1, reading(50, 100)), (2, reading(50, 100))]);
    let mut bench = Bench::new(PolicyName::Intensity, &source, &[(1, 0), (2, 1)]);
    bench.window(&source);
    assert!(bench.counters(&source).iter().all(Option::is_some));
    bench.host.0.insert(2, (77, 1, 0));
    let counted: Vec<bool> = bench.counters(&source).iter().map(Option::is_some).collect();
    assert_eq!(counted, [true, false], "the second is another one");
    let references: Vec<u64> =
        bench.counters(&source).into_iter().flatten().map(|it| it.references).collect();
    assert_eq!(references, [100, 100]);
    bench.host.0.remove(&1);
    bench.window(&source);
    assert_eq!(source.counts(), [2], "who is gone is not counted any more");
}

#[test]
fn threads_without_room_are_told_and_counted_once_there_is_some() {
    let threads: Vec<(u32, u32)> = (1..=5).map(|tid| (tid, 0)).collect();
    let source = Shared::with(2, threads.iter().map(|(tid, _)| (*tid, reading(10, 100))));
    let mut bench = Bench::new(PolicyName::Intensity, &source, &threads);
    bench.window(&source);
    let counted = |counters: Vec<Option<Counters>>| counters.into_iter().flatten().count();
    assert_eq!(counted(bench.counters(&source)), 2);
    let said = bench.meter.unseen().join("; ");
    assert!(said.contains("counters of 3 threads (too many open files"), "{said}");
    bench.host.0.remove(&1);
    bench.window(&source);
    assert_eq!(source.counts(), [2, 3]);
    assert_eq!(counted(bench.counters(&source)), 2);
}

#[test]
fn counters_that_never_have_their_turn_are_told_and_not_taken_for_zero() {
    let starved = Reading { running: Nanos(0), ..reading(50, 0) };
    let source = Shared::with(9, [(1, starved), (2, reading(50, 100))]);
    let mut bench = Bench::new(PolicyName::Intensity, &source, &[(1, 0), (2, 1)]);
    bench.window(&source);
    let counters = bench.counters(&source);
    assert_eq!(counters[0], None);
    assert_eq!(counters[1].expect("it is counted").neighbour_references, 0);
    let said = bench.meter.unseen().join("; ");
    assert!(said.contains("counters of 1 threads in some windows"), "{said}");
}

#[test]
fn a_policy_that_sees_counters_deals_the_tasks_that_miss_to_both_caches() {
    let load = [(1, 90_000), (2, 80_000), (3, 10), (4, 20)];
    let source = Shared::with(9, load.map(|(tid, references)| (tid, reading(90, references))));
    let name = PolicyName::DistributedIntensity;
    let mut bench = Bench::new(name, &source, &[(1, 0), (2, 1), (3, 2), (4, 3)]);
    let (mut policy, machine) = (name.policy(), pairs());
    let mut cores = BTreeMap::new();
    for _ in 0..20 {
        let tasks = bench.window(&source);
        for order in policy.window(&machine, &Window { length: LENGTH, tasks: &tasks }) {
            cores.insert(order.task().0, order.cpus().to_string());
        }
    }
    assert_eq!(cores.len(), 4);
    assert_ne!(cores[&0], cores[&1], "those that miss are apart");
    assert!(cores.values().all(|cores| ["0-1", "2-3"].contains(&cores.as_str())), "{cores:?}");
}

#[test]
fn policies_that_need_counters_are_refused_without_and_others_say_why_there_are_none() {
    let absent = || NoCounters::of("cycles", io::Error::from_raw_os_error(libc::ENOENT), None);
    for policy in PolicyName::ALL {
        let meter = Meter::with(Metrics::Proc, policy, Err(absent()));
        match meter {
            Err(DaemonError::NoCounters(refused, NoCounters::Absent(_))) => {
                assert!(refused == policy && policy.needs_counters(), "{policy}");
            }
            Err(error) => {
                assert_eq!(policy, PolicyName::Companions);
                let said = error.to_string();
                assert!(said.contains("kilocore-lab sched --experiment cache"), "{said}");
            }
            Ok(meter) => {
                let said = meter.unseen().join("; ");
                assert!(
                    !policy.needs_counters() && said.contains("no counter for cycles"),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn nobody_is_counted_for_a_policy_that_does_not_look() {
    let source = Shared::with(9, [(1, reading(50, 100))]);
    let mut bench = Bench::new(PolicyName::LockAware, &source, &[(1, 0)]);
    bench.window(&source);
    assert_eq!(bench.counters(&source), [None]);
    assert!(source.counts().is_empty());
    assert!(!bench.meter.sources().contains(&"played counters".to_owned()));
    let said = bench.meter.unseen().join("; ");
    assert!(said.contains("lock-aware does not decide by them"), "{said}");
}
