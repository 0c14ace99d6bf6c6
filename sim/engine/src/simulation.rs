//! Setting a simulation up and running it.

use crate::occupancy::Hardware;
use kilocore_machine::{Description, HardwareThread};
use kilocore_platform::{Cycles, NodeId};
use thiserror::Error;

use crate::chain::Place;
use crate::costs::{CoreLocation, Costs, NEVER};
use crate::current::in_task;
use crate::engine::Engine;
use crate::execution::Execution;
use crate::fiber::Fiber;
use crate::heap::OpenHeap;
use crate::ids::{CacheId, CoreId, CoreSet, DomainId, GroupId, Id, SimAddress, SocketId, TaskId};
use crate::main_loop::{self, GivenUp};
use crate::outcome::{LineTraffic, Outcome};
use crate::platform::slots::{prepare_slots, reset_slots};
use crate::region::SimRegion;
use crate::scheduler::Scheduler;
use crate::state::{Task, TaskState};
use crate::uncached::{Uncached, UncachedMemory, WORD_SHIFT};

/// How a simulation is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many hardware threads of the machine may be used: 1 to 1,024, and no more than it has.
    /// They are taken in the machine's compact order, which goes node by node and has the second
    /// threads of the cores last.
    pub cores: u32,
    /// Seeds all chance. With the same seed, the result is the same on every host.
    pub seed: u64,
}

/// Why a simulation could not be set up or finished.
#[derive(Debug, Error)]
pub enum SimError {
    /// The machine has fewer hardware threads than were asked for, or none were.
    #[error("{machine} has {available} hardware threads; cannot simulate {wanted} (choose 1 to {})", available.min(&MOST_CORES))]
    Cores {
        /// Name of the machine.
        machine: String,
        /// Hardware threads that it has.
        available: u32,
        /// Hardware threads that were asked for.
        wanted: u32,
    },
    /// The host has no memory for the stack of another simulated thread.
    #[error("no memory for the stack of a simulated thread")]
    Stack(#[from] std::io::Error),
    /// Some core's clock has passed the [longest time](longest_run) that can be simulated.
    #[error("too long to simulate: at cycle {} it was not over; choose shorter times, or fewer repetitions", at.0)]
    TooLong {
        /// When it was given up.
        at: Cycles,
    },
    /// A task was to run on none of the cores that it may use.
    #[error("task {} may run on no core: its set holds none of those that the simulation uses", task.0)]
    NoCore {
        /// The task that was to run.
        task: TaskId,
    },
    /// Nothing can happen any more, but tasks have not ended: a lost wake-up or a deadlock in
    /// the simulated code.
    #[error("simulated deadlock at cycle {}: tasks {tasks:?} wait for ever", at.0)]
    Deadlock {
        /// When the last event happened.
        at: Cycles,
        /// The tasks that have not ended.
        tasks: Vec<usize>,
        /// Where each of these waits, if [that is told](crate::Guest::is_at).
        places: Vec<Place>,
    },
}

/// For how many cycles a simulation with so many cores and tasks can last. The times of all of
/// them together can still be counted in 64 bits.
#[must_use]
pub fn longest_run(cores: u32, tasks: u32) -> Cycles {
    Cycles(ALL_CYCLES / u64::from(cores.max(tasks).max(1)))
}

/// How much time all cores or all tasks may have together. A sum over nested sections counts some of
/// it twice, and has sixteen times as much room.
const ALL_CYCLES: u64 = 1 << 60;

/// The largest number of cores that can be simulated.
const MOST_CORES: u32 = 1024;

/// How many lines an outcome lists.
const BUSIEST_LINES: usize = 16;

/// A machine with tasks on it that has not been switched on yet.
///
/// If the program's allocator is [`SimHeap`](crate::SimHeap), what this thread allocates until the
/// simulation has run lies in memory of its own. So words share lines the same way every time.
#[derive(Debug)]
pub struct Simulation {
    engine: Box<Engine>,
    /// The memory that this thread allocates from meanwhile. It is dropped last, as the engine may
    /// lie in it.
    heap: Option<OpenHeap>,
}

impl Simulation {
    /// A machine without tasks.
    ///
    /// # Errors
    /// [`SimError::Cores`] if the machine does not have as many cores, or none are asked for.
    pub fn new(machine: &Description, options: Options) -> Result<Self, SimError> {
        prepare_slots();
        let heap = OpenHeap::new();
        Ok(Self { engine: engine_of(machine, options)?, heap })
    }

    /// Takes all caches away. From now on `memory` serves every reference.
    ///
    /// Pages and streams ([`Sim::touch`](crate::Sim::touch), [`Sim::fetch`](crate::Sim::fetch)) stand
    /// for caches at work and are not for such a machine.
    ///
    /// # Panics
    /// If a region has been added, as that is cached.
    pub fn replace_caches(&mut self, memory: Box<dyn UncachedMemory>) {
        assert!(!self.engine.memory.has_regions(), "a region is for machines with caches");
        self.engine.costs.line_shift = WORD_SHIFT;
        self.engine.memory.uncached = Some(Box::new(Uncached::new(memory)));
    }

    /// Adds memory of a node that has addresses and no bytes, for pages that are only touched.
    ///
    /// A simulation with a region has caches that keep each other's rules, as the crate's
    /// decisions say.
    ///
    /// # Panics
    /// If the machine has no such node.
    pub fn add_region(&mut self, bytes: usize, home: NodeId) -> SimRegion {
        assert!(home.index() < self.engine.costs.nodes, "no node {} on the machine", home.0);
        let Engine { memory, costs, .. } = &mut *self.engine;
        let start = SimAddress(memory.add_region(costs, bytes, home));
        SimRegion { start, bytes, home }
    }

    /// Lets tasks [execute](crate::Sim::execute) phases, which share the caches and the memory bandwidth
    /// of this hardware.
    ///
    /// # Panics
    /// If it does not have as many hardware threads as the simulation has cores.
    pub fn share_caches(&mut self, hardware: Hardware) {
        assert_eq!(hardware.threads(), self.engine.cores.len(), "hardware threads for the cores");
        self.engine.steering().execution = Some(Execution::new(hardware));
    }

    /// Makes waiters keep their cores however long they wait.
    ///
    /// [`Platform::wait_until`](kilocore_platform::Platform::wait_until) offers the core to others
    /// after a while. Other implementations of the same locks do not, and a simulation to compare
    /// with measurements of those must not either.
    pub fn keep_waiters_on_cores(&mut self) {
        self.engine.costs.spin_before_yield = NEVER;
        self.engine.costs.spin_between_yields = NEVER;
    }

    /// Adds a thread that runs `body`. Threads are dealt to the cores in turn and start at time 0.
    /// If there are more threads than cores, those of a core share it by time slices.
    ///
    /// # Errors
    /// [`SimError::Stack`] if the host has no memory for its stack.
    pub fn spawn(&mut self, body: impl FnOnce() + 'static) -> Result<(), SimError> {
        let core = CoreId::from_index(self.engine.tasks.len() % self.engine.cores.len());
        self.spawn_at(core, body)?;
        Ok(())
    }

    /// Adds a thread that may run on the cores of a set only. The threads of a simulation are dealt to
    /// the cores on which they may run in turn, as [`spawn`](Self::spawn) deals them to all.
    ///
    /// # Errors
    /// [`SimError::NoCore`] if the set has none of the simulation's cores, [`SimError::Stack`] if the
    /// host has no memory for its stack.
    pub fn spawn_on(
        &mut self,
        cores: &CoreSet,
        body: impl FnOnce() + 'static,
    ) -> Result<(), SimError> {
        let task = self.engine.tasks.next_id();
        let own = cores.intersection(&CoreSet::first(self.engine.cores.len() as u32));
        let turn = task.0 % own.len().max(1);
        let core = own.iter().nth(turn as usize).ok_or(SimError::NoCore { task })?;
        let task = self.spawn_at(CoreId(core.0), body)?;
        self.engine.steering().allow(task, own);
        Ok(())
    }

    fn spawn_at(
        &mut self,
        core: CoreId,
        body: impl FnOnce() + 'static,
    ) -> Result<TaskId, SimError> {
        let fiber = Fiber::new(self.engine.tasks.len(), body)?;
        self.engine.memory.refuse_frames(fiber.frames());
        let task = self.engine.tasks.next_id();
        self.engine.tasks.push(Task::new(fiber, core));
        self.engine.cores[core].queue.ready.push_back(task);
        Ok(task)
    }

    /// Lets a scheduler decide where tasks run, and which is next on a core.
    pub fn schedule_with(&mut self, scheduler: Box<dyn Scheduler>) {
        self.engine.steering().schedule_with(scheduler);
    }

    /// Switches the machine on and runs it until all tasks have ended.
    ///
    /// # Errors
    /// [`SimError::Deadlock`] if tasks are left that nothing will wake, [`SimError::TooLong`] if
    /// they go on for longer than [`longest_run`] says.
    ///
    /// # Panics
    /// If a task panics, or if called from within a simulated task.
    pub fn run(mut self) -> Result<Outcome, SimError> {
        assert!(!in_task(), "a simulated task cannot simulate");
        reset_slots();
        let (cores, tasks) = (self.engine.cores.len(), self.engine.tasks.len());
        self.engine.latest = longest_run(cores as u32, tasks as u32);
        let ran = main_loop::run(&mut self.engine);
        let Self { heap: _heap, engine } = self;
        let ended = match ran {
            Ok(()) => without_deadlock(&engine),
            Err(GivenUp(at)) => Err(SimError::TooLong { at }),
        };
        if let Err(error) = ended {
            // The fibers hold borrowed state of one another, so they are not unwound.
            std::mem::forget(engine);
            return Err(error);
        }
        Ok(outcome(&engine))
    }
}

/// The engine of a machine without tasks.
pub(crate) fn engine_of(machine: &Description, options: Options) -> Result<Box<Engine>, SimError> {
    let available = machine.hardware_threads();
    if options.cores == 0 || options.cores > available.min(MOST_CORES) {
        return Err(SimError::Cores {
            machine: machine.name.clone(),
            available,
            wanted: options.cores,
        });
    }
    let places: Vec<CoreLocation> = (0..options.cores).map(|cpu| place(machine, cpu)).collect();
    Ok(Box::new(Engine::new(Costs::new(machine), &places, options.seed)))
}

/// What has happened up to now.
pub(crate) fn outcome(engine: &Engine) -> Outcome {
    let mut sockets: Vec<SocketId> = engine.cores.iter().map(|core| core.place.socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    Outcome {
        end: latest_clock(engine),
        cores: engine.cores.len(),
        sockets: sockets.len(),
        tasks: engine.tasks.iter().map(|task| task.times).collect(),
        lines: busiest_lines(engine),
        operations: engine.operations,
        clock_ghz: engine.costs.clock_ghz,
    }
}

pub(crate) fn without_deadlock(engine: &Engine) -> Result<(), SimError> {
    if let Some(task) = engine.steering.as_ref().and_then(|steering| steering.without_core) {
        return Err(SimError::NoCore { task });
    }
    let left = engine.tasks.enumerate().filter(|(_, task)| task.state != TaskState::Done);
    let stuck: Vec<TaskId> = left.map(|(task, _)| task).collect();
    if stuck.is_empty() {
        return Ok(());
    }
    let chains = engine.chains.as_deref();
    let places = chains.map(|chains| stuck.iter().map(|&task| chains.place(task)).collect());
    Err(SimError::Deadlock {
        at: latest_clock(engine),
        tasks: stuck.iter().map(|task| task.index()).collect(),
        places: places.unwrap_or_default(),
    })
}

fn latest_clock(engine: &Engine) -> Cycles {
    engine.cores.iter().map(|core| core.time).max().unwrap_or_default()
}

fn busiest_lines(engine: &Engine) -> Vec<LineTraffic> {
    let traffic = engine.memory.traffic();
    let mut lines: Vec<LineTraffic> = traffic
        .map(|(line, transfers, queued)| LineTraffic { line: line.0, transfers, queued })
        .collect();
    lines.sort_unstable_by_key(|line| (std::cmp::Reverse(line.transfers), line.line));
    lines.truncate(BUSIEST_LINES);
    lines
}

fn place(machine: &Description, cpu: u32) -> CoreLocation {
    let location = machine.location(HardwareThread(cpu));
    let topology = &machine.topology;
    let groups_per_domain =
        (topology.groups_per_node / machine.caches.shared_per_node.max(1)).max(1);
    CoreLocation {
        cache: CacheId(location.core),
        group: GroupId(location.group),
        domain: DomainId(location.group / groups_per_domain),
        node: NodeId(location.node),
        socket: SocketId(location.socket),
    }
}
