//! What tasks and cores are: the state that the engine, the operating system and waiting share.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU32;

use kilocore_platform::{Cycles, Padded};
use rustc_hash::FxHashMap;

use crate::agenda::Epoch;
use crate::costs::CoreLocation;
use crate::fiber::{Fiber, Locals};
use crate::ids::{CoreId, LineId, ListId, TaskId};
use crate::outcome::{Activity, TaskTimes};
use crate::table::Table;

/// Why a fiber suspended itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// To go on at its core's time, after all that is earlier.
    Continue,
    /// It waits for a line to change, on its core.
    Wait,
    /// It leaves its core and sleeps.
    Sleep,
    /// It offers its core to others.
    GiveWay,
    /// It leaves its core for one on which it may run.
    Relocate,
    /// It has computed past the end of what can be simulated.
    GiveUp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    /// Ready, on a run queue.
    Queued,
    /// On a core, computing.
    Running,
    /// On a core, watching a line.
    Waiting,
    /// Asleep in the operating system.
    Asleep,
    Done,
}

/// A simulated thread: its fiber, where it runs, and what it has done.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) fiber: Option<Fiber>,
    pub(crate) locals: Locals,
    pub(crate) state: TaskState,
    /// The core it runs on or ran on last.
    pub(crate) core: CoreId,
    /// Changes whenever events planned for the task so far become void.
    pub(crate) epoch: Epoch,
    /// Computing time that it still has to do once it gets a core again.
    pub(crate) remaining: Cycles,
    pub(crate) watch: Option<Watch>,
    /// Whether the line it waits for has it on its list.
    pub(crate) watching: bool,
    pub(crate) timed_out: bool,
    /// When it can run, if it was woken while its core was not idle yet.
    pub(crate) runs_at: Option<Cycles>,
    /// In how many sections of the kernel it is, one inside the other, that keep it on its core: with
    /// a lock of the kernel, or waiting for one.
    pub(crate) kernel_sections: u8,
    /// Whether it is the kernel that spins, when it spins.
    pub(crate) spins_in_kernel: bool,
    /// How much it has had of its core: what the scheduler goes by.
    pub(crate) run: Cycles,
    /// Since when that has not been accounted for.
    pub(crate) run_since: Cycles,
    pub(crate) times: TaskTimes,
}

impl Task {
    /// Whether it keeps its core whatever happens.
    pub(crate) fn in_kernel(&self) -> bool {
        self.kernel_sections > 0
    }

    /// A task that is ready to run on `core` from the beginning.
    pub(crate) fn new(fiber: Fiber, core: CoreId) -> Self {
        let locals = fiber.locals();
        Self { fiber: Some(fiber), ..Self::without_fiber(locals, core) }
    }

    /// A task that somebody else executes.
    pub(crate) fn executed_elsewhere(core: CoreId) -> Self {
        Self::without_fiber(Locals::NONE, core)
    }

    fn without_fiber(locals: Locals, core: CoreId) -> Self {
        Self {
            locals,
            fiber: None,
            state: TaskState::Queued,
            core,
            epoch: Epoch::default(),
            remaining: Cycles(0),
            watch: None,
            watching: false,
            timed_out: false,
            runs_at: None,
            kernel_sections: 0,
            spins_in_kernel: false,
            run: Cycles(0),
            run_since: Cycles(0),
            times: TaskTimes::default(),
        }
    }
}

/// The condition of a waiter: reads the word and says whether the wait is over.
pub(crate) type Check = *mut dyn FnMut() -> bool;

/// A wait for a line to change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    pub(crate) line: LineId,
    pub(crate) check: Check,
    pub(crate) activity: Activity,
    /// Since when the time has not been accounted for.
    pub(crate) since: Cycles,
    /// When it offers its core to others.
    pub(crate) yield_at: Cycles,
    /// When it gives up.
    pub(crate) deadline: Cycles,
}

/// A hardware thread of the simulated machine.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) place: CoreLocation,
    /// The core's own clock.
    pub(crate) time: Cycles,
    pub(crate) task: Option<TaskId>,
    /// Changes whenever events planned for the core so far become void.
    pub(crate) epoch: Epoch,
    /// When the stores in its buffer will all be done.
    pub(crate) stores_done: Cycles,
    pub(crate) queue: RunQueue,
    /// The other hardware threads of the same physical core.
    pub(crate) siblings: Vec<CoreId>,
}

impl Core {
    pub(crate) fn new(place: CoreLocation) -> Self {
        Self {
            place,
            time: Cycles(0),
            task: None,
            epoch: Epoch::default(),
            stores_done: Cycles(0),
            queue: RunQueue::new(),
            siblings: Vec::new(),
        }
    }
}

/// The tasks that are ready to run on a core, and its time slice.
#[derive(Debug)]
pub(crate) struct RunQueue {
    pub(crate) ready: VecDeque<TaskId>,
    pub(crate) slice_start: Cycles,
    /// Changes whenever the planned end of the slice becomes void.
    pub(crate) slice_epoch: Epoch,
    /// Whether an end of the slice is planned.
    pub(crate) slice_ends: bool,
    /// How long the slice under way may last.
    pub(crate) slice: Cycles,
    /// What the task that has had least of the core has had, as far as that is known. It only
    /// grows.
    pub(crate) least_run: Cycles,
}

impl RunQueue {
    fn new() -> Self {
        Self {
            ready: VecDeque::new(),
            slice_start: Cycles(0),
            slice_epoch: Epoch::default(),
            slice_ends: false,
            slice: Cycles(0),
            least_run: Cycles(0),
        }
    }
}

/// What the kernel keeps for futexes.
#[derive(Debug, Default)]
pub(crate) struct Futexes {
    /// Tasks that sleep on each futex, by address.
    pub(crate) sleepers: FxHashMap<usize, VecDeque<TaskId>>,
    /// The ticket locks of the hash buckets, by the bucket's line.
    pub(crate) locks: FxHashMap<LineId, Box<LockWords>>,
}

/// The two numbers of a ticket lock, on one line: the next ticket, and the one that is served.
pub(crate) type LockWords = Padded<[AtomicU32; 2]>;

/// Lists of waiters that will look at their line at the same moment, by number.
#[derive(Debug)]
pub(crate) struct AlertedLists {
    pub(crate) lists: Table<ListId, Vec<(TaskId, Epoch)>>,
    /// Lists that are free, and empty.
    pub(crate) spare: Vec<ListId>,
}

impl AlertedLists {
    pub(crate) fn new() -> Self {
        Self { lists: Table::new(), spare: Vec::new() }
    }

    pub(crate) fn take_spare(&mut self) -> ListId {
        self.spare.pop().unwrap_or_else(|| {
            let list = self.lists.next_id();
            self.lists.push(Vec::new());
            list
        })
    }
}
