//! Policies that see how tasks use shared caches, on a machine where each task presses on those beside
//! it and suffers under them by figures of its own.

use std::collections::BTreeMap;

use kilocore_sched_policy::{
    CacheId, Counters, CpuId, CpuSet, CpuTopology, DistributedIntensity, Machine, Nanos, NodeId,
    Policy, ProgramId, Ready, ResourceAware, TaskId, TaskWindow, Window,
};

/// What a task does alone, and beside others.
#[derive(Debug, Clone, Copy)]
struct Program {
    /// References and misses in a thousand instructions.
    references: u64,
    misses: u64,
    /// By how many per cent it is slowed down by each ten misses that others have in a thousand of its
    /// cycles.
    suffers: u64,
}

/// Pairs of cores that share a cache, and two tasks for each core.
struct Shared {
    machine: Machine,
    programs: Vec<Program>,
    /// Where each task may run.
    places: Vec<CpuSet>,
    windows: u64,
}

const LENGTH: u64 = 100_000_000;
/// Instructions of a task in a window.
const INSTRUCTIONS: u64 = 100_000_000;

impl Shared {
    fn new(programs: Vec<Program>) -> Self {
        let cores = programs.len() as u32 / 2;
        let topology =
            |core: u32| CpuTopology { thread: 0, cache: CacheId(core / 2), node: NodeId(0) };
        let machine = Machine::new((0..cores).map(topology).collect());
        let places = vec![machine.all(); programs.len()];
        Self { machine, programs, places, windows: 0 }
    }

    /// The core of a task in a window. One that may run anywhere is dealt to another core in each, as
    /// load balancing does.
    fn core(&self, task: usize) -> u32 {
        let cores: Vec<CpuId> = self.places[task].iter().collect();
        let turn = (task as u64 / 2 + self.windows * (task as u64 + 1)) as usize;
        cores[turn % cores.len()].0
    }

    /// By how many per mille a task is slower than alone, with those of its neighbouring core each there
    /// for half of the time.
    fn slowdown(&self, task: usize) -> u64 {
        self.neighbours(task).map(|other| self.programs[other].misses).sum::<u64>()
            * self.programs[task].suffers
            / 2
    }

    fn neighbours(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        let core = self.core(task);
        (0..self.programs.len()).filter(move |&other| self.core(other) == core ^ 1)
    }

    fn step(&mut self, policy: &mut dyn Policy) {
        let tasks: Vec<TaskWindow> =
            (0..self.programs.len()).map(|task| self.window(task)).collect();
        let window = Window { length: Nanos(LENGTH), tasks: &tasks };
        for order in policy.window(&self.machine, &window) {
            self.places[order.task().0 as usize] = order.cpus().clone();
        }
        self.windows += 1;
    }

    fn window(&self, task: usize) -> TaskWindow {
        let program = self.programs[task];
        let cycles = INSTRUCTIONS + INSTRUCTIONS * self.slowdown(task) / 1_000;
        let beside = |of: fn(&Program) -> u64| -> u64 {
            let all = self.neighbours(task).map(|other| of(&self.programs[other]));
            all.sum::<u64>() / 2 * (cycles / 1_000)
        };
        TaskWindow {
            task: TaskId(task as u32),
            program: ProgramId(task as u32),
            allowed: self.machine.all(),
            cpu: CpuId(self.core(task)),
            ran: Nanos(LENGTH / 2),
            user: None,
            ready: Nanos(LENGTH / 2),
            locks: Vec::new(),
            counters: Some(Counters {
                cycles,
                instructions: INSTRUCTIONS,
                references: program.references * (INSTRUCTIONS / 1_000),
                misses: program.misses * (INSTRUCTIONS / 1_000),
                neighbour_references: beside(|program| program.references),
                neighbour_misses: beside(|program| program.misses),
            }),
            beside: Vec::new(),
        }
    }

    /// How much slower all tasks are together.
    fn suffered(&self) -> u64 {
        (0..self.programs.len()).map(|task| self.slowdown(task)).sum()
    }

    fn run(mut self, policy: &mut dyn Policy) -> Self {
        for _ in 0..100 {
            self.step(policy);
        }
        self
    }
}

const HEAVY: Program = Program { references: 40, misses: 20, suffers: 2 };
const LIGHT: Program = Program { references: 1, misses: 0, suffers: 0 };

/// Neighbours that alternate: a heavy one, a light one.
fn heavy_and_light() -> Vec<Program> {
    [HEAVY, LIGHT].repeat(8)
}

#[test]
fn heavy_tasks_never_run_beside_heavy_ones_where_there_are_as_many_light_ones() {
    for mut policy in [ResourceAware::intensity(), ResourceAware::complement()] {
        let world = Shared::new(heavy_and_light()).run(&mut policy);
        assert_eq!(world.suffered(), 0, "{}", policy.name());
        let mut on_core = BTreeMap::<u32, u32>::new();
        for task in 0..world.programs.len() {
            assert_eq!(world.places[task].len(), 1);
            *on_core.entry(world.core(task)).or_default() += 1;
        }
        assert!(on_core.values().all(|&tasks| tasks == 2), "{on_core:?}");
    }
}

/// Streams press hard and mind nothing, others press a little and mind much.
fn uncorrelated() -> Vec<Program> {
    const STREAM: Program = Program { references: 30, misses: 30, suffers: 0 };
    const NEEDY: Program = Program { references: 20, misses: 2, suffers: 4 };
    let mut programs = vec![STREAM; 4];
    programs.extend([NEEDY; 4]);
    programs.extend([LIGHT; 8]);
    programs
}

#[test]
fn what_tasks_are_seen_to_suffer_places_them_where_pressing_hard_is_not_suffering() {
    let mut complement = ResourceAware::complement();
    let learned = Shared::new(uncorrelated()).run(&mut complement);
    let mut intensity = ResourceAware::intensity();
    let guessed = Shared::new(uncorrelated()).run(&mut intensity);
    // Four needy tasks beside light ones, and streams beside whom they like.
    assert_eq!(learned.suffered(), 0);
    assert!(guessed.suffered() >= learned.suffered());
}

#[test]
fn distributed_intensity_gives_each_cache_an_equal_part_of_the_misses() {
    let mut policy = DistributedIntensity::default();
    let world = Shared::new(heavy_and_light()).run(&mut policy);
    let mut misses = BTreeMap::<u32, u64>::new();
    for task in 0..world.programs.len() {
        assert_eq!(world.places[task].len(), 2);
        *misses.entry(world.core(task) / 2).or_default() += world.programs[task].misses;
    }
    assert!(misses.values().all(|&all| all == 40), "{misses:?}");
}

#[test]
fn tasks_stay_where_they_are_once_they_are_placed() {
    for mut policy in [ResourceAware::intensity(), ResourceAware::complement()] {
        let mut world = Shared::new(uncorrelated()).run(&mut policy);
        let placed = world.places.clone();
        for _ in 0..200 {
            world.step(&mut policy);
        }
        assert_eq!(world.places, placed, "{}", policy.name());
    }
}

#[test]
fn a_core_picks_what_goes_best_with_its_neighbour_within_the_bound_of_fairness() {
    let mut policy = ResourceAware::intensity();
    let world = Shared::new(heavy_and_light()).run(&mut policy);
    let lead = policy.options().lead;
    let ready = |heavy: Nanos, light: Nanos| {
        [Ready { task: TaskId(0), had: heavy }, Ready { task: TaskId(1), had: light }]
    };
    let mut running = vec![None; 8];
    running[1] = Some(TaskId(2));
    let mut pick = |ready: &[Ready], running: &[Option<TaskId>]| {
        policy.pick(&world.machine, CpuId(0), ready, running)
    };
    // Beside a heavy task, the light one, even if it is ahead by what is allowed.
    assert_eq!(pick(&ready(Nanos(0), lead), &running), 1);
    assert_eq!(pick(&ready(Nanos(0), Nanos(lead.0 + 1)), &running), 0);
    // Beside a light task, the heavy one, even if the light one is behind.
    running[1] = Some(TaskId(3));
    assert_eq!(pick(&ready(lead, Nanos(0)), &running), 0);
    assert_eq!(pick(&ready(Nanos(lead.0 + 1), Nanos(0)), &running), 1);
    // What runs under another cache does not matter.
    running[1] = None;
    running[2] = Some(TaskId(2));
    assert_eq!(pick(&ready(Nanos(0), Nanos(0)), &running), 0);
}

#[test]
fn no_core_is_idle_while_another_has_two_tasks() {
    // Nine tasks on eight cores: the heavy ones would have it better with idle neighbours.
    let mut world = Shared::new(vec![HEAVY; 16]);
    world.programs.truncate(9);
    world.places.truncate(9);
    let world = world.run(&mut ResourceAware::complement());
    let mut cores: Vec<u32> = (0..9).map(|task| world.core(task)).collect();
    cores.sort_unstable();
    cores.dedup();
    assert_eq!(cores.len(), 8);
}

#[test]
fn a_task_that_was_moved_stays_for_some_windows_even_if_it_changes_all_the_time() {
    let mut policy = ResourceAware::intensity();
    let dwell = u64::from(policy.options().dwell);
    let mut world = Shared::new([HEAVY, HEAVY, LIGHT, LIGHT].repeat(4));
    let mut moved = BTreeMap::<usize, u64>::new();
    let mut moves = 0;
    for window in 0..400 {
        if window % 5 == 0 {
            world.programs.rotate_left(1);
        }
        let before = world.places.clone();
        world.step(&mut policy);
        for task in (0..16).filter(|&task| world.places[task] != before[task]) {
            if let Some(last) = moved.insert(task, world.windows) {
                moves += 1;
                assert!(world.windows - last >= dwell, "{task} after {}", world.windows - last);
            }
        }
    }
    assert!(moves > 0);
}
