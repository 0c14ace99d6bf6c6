//! The policy that learns pair by pair, on a machine where each pair of tasks has speeds of its own.

use std::collections::BTreeMap;

use kilocore_sched_policy::{
    CacheId, CoRun, Companions, Counters, CpuId, CpuSet, CpuTopology, Machine, Nanos, NodeId,
    Policy, ProgramId, Ready, TaskId, TaskWindow, Window, divide,
};

/// Turns that each core takes in a window, and cycles of each.
const TURNS: usize = 10;
const SLICE: Nanos = Nanos(10_000_000);
const CYCLES: u64 = 20_000_000;

/// Pairs of cores that share a cache, with queues of two tasks for each core.
struct Pairwise {
    machine: Machine,
    /// Kinds of tasks, and instructions in a thousand cycles of a kind beside another.
    kinds: Vec<usize>,
    speed: fn(usize, usize) -> u64,
    queues: Vec<Vec<TaskId>>,
    places: BTreeMap<TaskId, CpuSet>,
    had: BTreeMap<TaskId, Nanos>,
    /// Instructions of all tasks in the last window.
    done: u64,
    moves: u32,
    windows: usize,
}

impl Pairwise {
    fn new(kinds: &[usize], speed: fn(usize, usize) -> u64) -> Self {
        let cores = kinds.len() as u32 / 2;
        let topology =
            |core: u32| CpuTopology { thread: 0, cache: CacheId(core / 2), node: NodeId(0) };
        let machine = Machine::new((0..cores).map(topology).collect());
        let mut queues = vec![Vec::new(); cores as usize];
        for task in 0..kinds.len() {
            queues[task / 2].push(TaskId(task as u32));
        }
        Self {
            machine,
            kinds: kinds.to_vec(),
            speed,
            queues,
            places: BTreeMap::new(),
            had: BTreeMap::new(),
            done: 0,
            moves: 0,
            windows: 0,
        }
    }

    /// All cores take turns at the same moments, one core after the other.
    fn window(&mut self, policy: &mut dyn Policy) {
        let mut beside = BTreeMap::<(TaskId, TaskId), CoRun>::new();
        self.done = 0;
        // Something else has delayed every other core by a turn.
        self.windows += 1;
        for queue in self.queues.iter_mut().skip(1).step_by(2).filter(|queue| queue.len() > 1) {
            queue.rotate_left(self.windows % 2);
        }
        for _ in 0..TURNS {
            let running = self.turn(policy);
            for (core, &task) in running.iter().enumerate() {
                let (Some(task), Some(other)) = (task, running[core ^ 1]) else { continue };
                let kind = |task: TaskId| self.kinds[task.0 as usize];
                let instructions = CYCLES / 1_000 * (self.speed)(kind(task), kind(other));
                let new = CoRun { task: other, cycles: 0, instructions: 0 };
                let pair = beside.entry((task, other)).or_insert(new);
                pair.cycles += CYCLES;
                pair.instructions += instructions;
                self.done += instructions;
            }
        }
        let tasks: Vec<TaskWindow> =
            (0..self.kinds.len()).map(|task| self.seen(TaskId(task as u32), &beside)).collect();
        let window = Window { length: Nanos(SLICE.0 * TURNS as u64), tasks: &tasks };
        for order in policy.window(&self.machine, &window) {
            self.places.insert(order.task(), order.cpus().clone());
            self.moves += 1;
        }
        self.settle();
    }

    /// Says which task each core runs next: the policy does, and the others go on waiting in line.
    fn turn(&mut self, policy: &mut dyn Policy) -> Vec<Option<TaskId>> {
        let mut running = vec![None; self.queues.len()];
        for core in 0..self.queues.len() {
            let had = |task: &TaskId| self.had.get(task).copied().unwrap_or_default();
            let ready: Vec<Ready> = self.queues[core]
                .iter()
                .map(|task| Ready { task: *task, had: had(task) })
                .collect();
            if ready.is_empty() {
                continue;
            }
            let picked = policy.pick(&self.machine, CpuId(core as u32), &ready, &running);
            let task = self.queues[core].remove(picked);
            self.queues[core].push(task);
            self.had.entry(task).or_default().0 += SLICE.0;
            running[core] = Some(task);
        }
        running
    }

    fn seen(&self, task: TaskId, beside: &BTreeMap<(TaskId, TaskId), CoRun>) -> TaskWindow {
        let core = self.queues.iter().position(|queue| queue.contains(&task)).unwrap_or(0);
        let half = Nanos(SLICE.0 * TURNS as u64 / 2);
        TaskWindow {
            task,
            program: ProgramId(0),
            allowed: self.machine.all(),
            cpu: CpuId(core as u32),
            ran: half,
            user: None,
            ready: half,
            locks: Vec::new(),
            counters: Some(Counters::default()),
            beside: beside
                .iter()
                .filter(|(pair, _)| pair.0 == task)
                .map(|(_, seen)| *seen)
                .collect(),
        }
    }

    /// Moves tasks to where they may run.
    fn settle(&mut self) {
        let all: Vec<TaskId> = (0..self.kinds.len()).map(|task| TaskId(task as u32)).collect();
        for task in all {
            let Some(place) = self.places.get(&task) else { continue };
            let core = self.queues.iter().position(|queue| queue.contains(&task)).unwrap_or(0);
            if !place.contains(CpuId(core as u32)) {
                self.queues[core].retain(|&other| other != task);
                let to = place.iter().next().expect("no set is empty");
                self.queues[to.0 as usize].push(task);
            }
        }
    }

    /// What the best pairs get done in a window.
    fn best(&self) -> u64 {
        let speed = |one: usize, other: usize| (self.speed)(self.kinds[one], self.kinds[other]);
        let worth = |set: &[usize]| speed(set[0], set[1]) + speed(set[1], set[0]);
        let pairs = divide(self.kinds.len(), 2, |set| 10_000 - worth(set)).unwrap();
        let sum: u64 = pairs.iter().map(|pair| worth(pair)).sum();
        // Each pair has a cache for half of the turns.
        sum * CYCLES / 1_000 * TURNS as u64 / 2
    }

    fn run(mut self, windows: u32) -> Self {
        let mut policy = Companions::default();
        for _ in 0..windows {
            self.window(&mut policy);
        }
        self
    }
}

/// Tables (0) fit beside each other, and lose much beside streams (1), which mind nothing.
fn tables_and_streams(one: usize, other: usize) -> u64 {
    match (one, other) {
        (0, 0) => 900,
        (0, _) => 400,
        _ => 500,
    }
}

/// Heavy tasks (0) slow each other down and mind light ones (1) little.
fn heavy_and_light(one: usize, other: usize) -> u64 {
    match (one, other) {
        (0, 0) => 300,
        (0, _) => 500,
        _ => 1_000,
    }
}

#[test]
fn like_runs_beside_like_where_that_is_best_and_beside_unlike_where_it_is_not() {
    let kinds = [0, 1].repeat(8);
    for speed in [tables_and_streams, heavy_and_light] {
        // In both the last windows, one with every other core delayed.
        for windows in [99, 100] {
            let world = Pairwise::new(&kinds, speed).run(windows);
            let share = world.done as f64 / world.best() as f64;
            assert!(share > 0.95, "{share}");
        }
    }
}

#[test]
fn all_tasks_get_as_much_of_the_cores() {
    let world = Pairwise::new(&[0, 1].repeat(8), tables_and_streams).run(100);
    let least = world.had.values().min().unwrap();
    let most = world.had.values().max().unwrap();
    let average = 100 * TURNS as u64 * SLICE.0 / 2;
    // Queues are of two tasks each while all are dealt anew, and a task may lead by two slices.
    assert!(most.0 - least.0 < average / 10, "{least:?} {most:?}");
}

#[test]
fn once_the_best_pairs_are_found_nothing_moves() {
    let mut policy = Companions::default();
    let mut world = Pairwise::new(&[0, 1].repeat(8), tables_and_streams);
    for _ in 0..100 {
        world.window(&mut policy);
    }
    world.moves = 0;
    for _ in 0..200 {
        world.window(&mut policy);
    }
    assert_eq!(world.moves, 0);
}

#[test]
fn two_pairs_that_share_a_cache_each_run_together_in_their_turn() {
    // Of each kind there are two, and they are good company for each other only.
    let kinds: Vec<usize> = (0..16).map(|task| task * 5 % 8).collect();
    let speed = |one: usize, other: usize| if one == other { 900 } else { 400 };
    for windows in [99, 100] {
        let world = Pairwise::new(&kinds, speed).run(windows);
        let share = world.done as f64 / world.best() as f64;
        assert!(share > 0.9, "{share}");
    }
}
