//! A machine on which tasks fight for locks, in closed form, for policies to steer.
//!
//! Each group of tasks has a ticket lock, as the Markov chain of Boyd-Wickizer and others describes it:
//! tasks think for `think` on average, hold the lock for `hold`, and each waiter makes the hand-over
//! longer by half of `hand_over`.

use kilocore_sched_policy::{
    CpuId, CpuSet, LockLabel, LockWait, Machine, Nanos, Order, Policy, ProgramId, TaskId,
    TaskWindow, Window,
};

/// A group of tasks with a lock of its own.
#[derive(Debug, Clone)]
pub(crate) struct Fight {
    pub(crate) lock: u64,
    pub(crate) tasks: u32,
    pub(crate) think: f64,
    pub(crate) hold: f64,
    pub(crate) hand_over: f64,
}

impl Fight {
    /// On so many cores: acquisitions in a microsecond, and how many cores wait on average.
    pub(crate) fn on(&self, cores: u32) -> (f64, f64) {
        let n = f64::from(cores);
        let mut weight = 1.0;
        let (mut all, mut waiting) = (1.0, 0.0);
        for k in 0..cores {
            let there = f64::from(k);
            let arrival = (n - there) / self.think;
            let service = 1.0 / (self.hold + self.hand_over * there / 2.0);
            weight *= arrival / service;
            all += weight;
            // One of those that are there holds the lock.
            waiting += weight * there;
        }
        let mut thinking = 0.0;
        let mut weight = 1.0;
        for k in 0..=cores {
            thinking += weight * (n - f64::from(k)) / all;
            let there = f64::from(k);
            weight *= (n - there) / self.think * (self.hold + self.hand_over * there / 2.0);
        }
        (thinking / self.think * 1_000.0, waiting / all)
    }

    /// The number of cores on which most is done.
    pub(crate) fn best(&self, most: u32) -> u32 {
        (1..=most).max_by(|&a, &b| self.on(a).0.total_cmp(&self.on(b).0)).unwrap()
    }
}

/// The machine, with its tasks where a policy has put them.
#[derive(Debug)]
pub(crate) struct Contended {
    pub(crate) machine: Machine,
    pub(crate) fights: Vec<Fight>,
    allowed: CpuSet,
    /// Where each task may run, fight by fight.
    places: Vec<Vec<CpuSet>>,
    noise: f64,
    random: u64,
    /// How many windows have passed, and how much was done in them.
    pub(crate) windows: u32,
    pub(crate) moves: u32,
}

impl Contended {
    pub(crate) fn new(cores: u32, fights: Vec<Fight>, noise: f64, seed: u64) -> Self {
        let machine = Machine::flat(cores);
        let allowed = machine.all();
        let places = fights.iter().map(|f| vec![allowed.clone(); f.tasks as usize]).collect();
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { machine, fights, allowed, places, noise, random, windows: 0, moves: 0 }
    }

    /// A factor around 1.
    fn noisy(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let unit = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        1.0 + self.noise * (2.0 * unit - 1.0)
    }

    /// On how many cores the tasks of a fight are.
    pub(crate) fn cores(&self, fight: usize) -> u32 {
        let mut all = CpuSet::new();
        for place in &self.places[fight] {
            all.extend_from(place);
        }
        all.len()
    }

    /// What the tasks do in a window of a millisecond.
    pub(crate) fn window(&mut self) -> Vec<TaskWindow> {
        const LENGTH: f64 = 1e6;
        let mut tasks = Vec::new();
        for index in 0..self.fights.len() {
            let fight = self.fights[index].clone();
            let cores = self.cores(index).min(fight.tasks);
            let (rate, waiting) = fight.on(cores);
            let (rate, waiting) = (rate * self.noisy(), waiting * self.noisy());
            let each = f64::from(cores) / f64::from(fight.tasks);
            let share = (waiting / f64::from(cores)).min(1.0);
            for number in 0..fight.tasks {
                let wait = LockWait {
                    lock: LockLabel(fight.lock),
                    spun: Nanos((LENGTH * each * share) as u64),
                    slept: Nanos(0),
                    acquired: Some(nth_part((rate * 1_000.0) as u64, fight.tasks, number)),
                };
                let task = TaskId(1_000 * index as u32 + number);
                tasks.push(TaskWindow {
                    task,
                    program: ProgramId(index as u32),
                    allowed: self.allowed.clone(),
                    cpu: CpuId(0),
                    ran: Nanos((LENGTH * each) as u64),
                    user: None,
                    ready: Nanos((LENGTH * (1.0 - each)) as u64),
                    locks: vec![wait],
                    counters: None,
                    beside: Vec::new(),
                });
            }
        }
        self.windows += 1;
        tasks
    }

    /// Lets a policy steer for one window.
    pub(crate) fn step(&mut self, policy: &mut dyn Policy) {
        let tasks = self.window();
        self.obey(policy, &tasks);
    }

    /// Shows a policy what tasks did, and does what it says.
    pub(crate) fn obey(&mut self, policy: &mut dyn Policy, tasks: &[TaskWindow]) -> Vec<Order> {
        let window = Window { length: Nanos(1_000_000), tasks };
        let orders = policy.window(&self.machine, &window);
        for order in &orders {
            assert!(!order.cpus().is_empty() && order.cpus().is_subset(&self.allowed));
            let (fight, number) = (order.task().0 / 1_000, order.task().0 % 1_000);
            if let Some(place) = self.places[fight as usize].get_mut(number as usize) {
                *place = order.cpus().clone();
            }
            self.moves += 1;
        }
        orders
    }
}

/// What the task with this number has of something that so many share.
fn nth_part(all: u64, tasks: u32, number: u32) -> u64 {
    let (tasks, number) = (u64::from(tasks), u64::from(number));
    all / tasks + u64::from(number < all % tasks)
}
