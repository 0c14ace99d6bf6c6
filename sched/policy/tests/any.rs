//! What holds for every policy, whatever windows say.

use kilocore_sched_policy::{
    CacheId, Companions, Confined, Counters, CpuId, CpuSet, CpuTopology, DistributedIntensity,
    Fair, LockAware, LockLabel, LockWait, Machine, Malthusian, Nanos, NodeId, Pinned, Policy,
    ProgramId, Ready, ResourceAware, TaskId, TaskWindow, Window,
};
use proptest::prelude::*;

const CORES: u32 = 12;

/// Two nodes of three caches of two cores.
fn machine() -> Machine {
    let topology =
        |core: u32| CpuTopology { thread: 0, cache: CacheId(core / 2), node: NodeId(core / 6) };
    Machine::new((0..CORES).map(topology).collect())
}

fn policies() -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(Fair),
        Box::new(Pinned::default()),
        Box::new(Confined::new(3)),
        Box::new(Malthusian::default()),
        Box::new(LockAware::default()),
        Box::new(DistributedIntensity::default()),
        Box::new(ResourceAware::intensity()),
        Box::new(ResourceAware::complement()),
        Box::new(Companions::default()),
    ]
}

const LENGTH: u64 = 1_000_000;

fn allowance() -> impl Strategy<Value = CpuSet> {
    let some = proptest::collection::btree_set(0..CORES, 1..=CORES as usize);
    prop_oneof![
        3 => Just(CpuSet::first(CORES)),
        1 => some.prop_map(|cpus| cpus.into_iter().map(CpuId).collect()),
        // A core that the machine has lost since.
        1 => Just(std::iter::once(CpuId(CORES + 1)).collect()),
    ]
}

fn wait() -> impl Strategy<Value = LockWait> {
    let acquired = proptest::option::of(0..10_000_u64);
    (0..4_u64, 0..=LENGTH, 0..=LENGTH, acquired).prop_map(|(lock, spun, slept, acquired)| {
        LockWait { lock: LockLabel(lock), spun: Nanos(spun), slept: Nanos(slept), acquired }
    })
}

fn counters() -> impl Strategy<Value = Counters> {
    let any = 0..u64::MAX;
    (any.clone(), any.clone(), any.clone(), any.clone(), any.clone(), any).prop_map(
        |(cycles, instructions, references, misses, neighbour_references, neighbour_misses)| {
            Counters {
                cycles,
                instructions,
                references,
                misses,
                neighbour_references,
                neighbour_misses,
            }
        },
    )
}

/// A task without its number.
fn task() -> impl Strategy<Value = TaskWindow> {
    let locks = proptest::collection::vec(wait(), 0..3);
    // What a driver measures in two ways need not fit.
    let times = (0..=LENGTH, proptest::option::of(0..=LENGTH), 0..=LENGTH);
    (0..3_u32, allowance(), 0..CORES, times, locks, proptest::option::of(counters())).prop_map(
        |(program, allowed, cpu, (ran, user, ready), locks, counters)| TaskWindow {
            task: TaskId(0),
            program: ProgramId(program),
            allowed,
            cpu: CpuId(cpu),
            ran: Nanos(ran),
            user: user.map(Nanos),
            ready: Nanos(ready),
            locks,
            counters,
            beside: Vec::new(),
        },
    )
}

fn window() -> impl Strategy<Value = Vec<TaskWindow>> {
    proptest::collection::btree_map(0..24_u32, task(), 0..20).prop_map(|tasks| {
        let numbered = tasks.into_iter().map(|(number, mut task)| {
            task.task = TaskId(number);
            task
        });
        numbered.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_order_is_empty_or_outside_of_an_allowance_or_for_a_task_that_is_gone(
        windows in proptest::collection::vec(window(), 1..40),
    ) {
        let machine = machine();
        for mut policy in policies() {
            for tasks in &windows {
                let window = Window { length: Nanos(LENGTH), tasks };
                for order in policy.window(&machine, &window) {
                    let task = tasks.iter().find(|task| task.task == order.task());
                    let task = task.expect("an order for a task that is there");
                    prop_assert!(!order.cpus().is_empty(), "{}: {order:?}", policy.name());
                    prop_assert!(order.cpus().is_subset(&task.allowed), "{}", policy.name());
                }
                for group in policy.groups() {
                    prop_assert!(!group.cpus.is_empty());
                }
            }
            let gone = Window { length: Nanos(LENGTH), tasks: &[] };
            prop_assert!(policy.window(&machine, &gone).is_empty());
            prop_assert!(policy.groups().is_empty(), "{}", policy.name());
        }
    }

    #[test]
    fn a_pick_is_one_of_those_that_are_ready(
        windows in proptest::collection::vec(window(), 1..8),
        ready in proptest::collection::vec((0..24_u32, 0..u64::MAX), 1..6),
        running in proptest::collection::vec(proptest::option::of(0..24_u32), 0..14),
    ) {
        let machine = machine();
        let ready: Vec<Ready> =
            ready.into_iter().map(|(task, had)| Ready { task: TaskId(task), had: Nanos(had) }).collect();
        let running: Vec<Option<TaskId>> =
            running.into_iter().map(|task| task.map(TaskId)).collect();
        for mut policy in policies() {
            for tasks in &windows {
                policy.window(&machine, &Window { length: Nanos(LENGTH), tasks });
            }
            for core in 0..CORES {
                let picked = policy.pick(&machine, CpuId(core), &ready, &running);
                prop_assert!(picked < ready.len());
            }
        }
    }

    #[test]
    fn the_same_windows_make_the_same_orders(
        windows in proptest::collection::vec(window(), 1..20),
    ) {
        let machine = machine();
        for (mut one, mut other) in policies().into_iter().zip(policies()) {
            for tasks in &windows {
                let window = Window { length: Nanos(LENGTH), tasks };
                prop_assert_eq!(one.window(&machine, &window), other.window(&machine, &window));
            }
        }
    }

    #[test]
    fn sets_of_cores_are_sets(
        a in proptest::collection::btree_set(0..200_u32, 0..40),
        b in proptest::collection::btree_set(0..200_u32, 0..40),
    ) {
        let set = |cpus: &std::collections::BTreeSet<u32>| -> CpuSet {
            cpus.iter().map(|&cpu| CpuId(cpu)).collect()
        };
        let (one, other) = (set(&a), set(&b));
        let both: Vec<u32> = one.intersection(&other).iter().map(|cpu| cpu.0).collect();
        prop_assert_eq!(both, a.intersection(&b).copied().collect::<Vec<u32>>());
        prop_assert_eq!(one.is_subset(&other), a.is_subset(&b));
        prop_assert_eq!(one.len() as usize, a.len());
        let mut less = one.clone();
        for &cpu in &b {
            prop_assert_eq!(less.remove(CpuId(cpu)), a.contains(&cpu));
        }
        prop_assert_eq!(less, a.difference(&b).map(|&cpu| CpuId(cpu)).collect::<CpuSet>());
    }
}

#[test]
fn a_set_of_cores_is_written_as_linux_does() {
    let set: CpuSet = [0, 1, 2, 3, 8, 64, 65].map(CpuId).into_iter().collect();
    assert_eq!(set.to_string(), "0-3,8,64-65");
    assert_eq!(CpuSet::new().to_string(), "");
}

#[test]
fn ten_thousand_tasks_in_a_window_are_steered() {
    let machine = machine();
    let tasks: Vec<TaskWindow> = (0..10_000)
        .map(|number| TaskWindow {
            task: TaskId(number),
            program: ProgramId(number % 7),
            allowed: machine.all(),
            cpu: CpuId(number % CORES),
            ran: Nanos(LENGTH / 1_000),
            user: None,
            ready: Nanos(LENGTH / 2),
            locks: vec![LockWait {
                lock: LockLabel(u64::from(number % 5)),
                spun: Nanos(LENGTH / 2_000),
                slept: Nanos(0),
                acquired: Some(3),
            }],
            counters: Some(Counters { cycles: 3_000, instructions: 1_000, ..Counters::default() }),
            beside: Vec::new(),
        })
        .collect();
    for mut policy in policies() {
        for _ in 0..12 {
            policy.window(&machine, &Window { length: Nanos(LENGTH), tasks: &tasks });
        }
    }
    let mut policy = LockAware::default();
    for _ in 0..12 {
        policy.window(&machine, &Window { length: Nanos(LENGTH), tasks: &tasks });
    }
    let confined: usize = policy.groups().iter().map(|group| group.tasks.len()).sum();
    assert_eq!(confined, 10_000);
}
