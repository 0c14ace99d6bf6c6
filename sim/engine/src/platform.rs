//! The simulated machine, as algorithms see it.

mod cell;
pub(crate) mod charge;
mod clock;
pub(crate) mod futex;
mod local;
pub(crate) mod slots;
pub(crate) mod watch;
pub(crate) mod words;

use crate::occupancy::{Executed, Phase};
use kilocore_platform::{
    Atomic, CpuId, Cycles, LockLabel, Nanos, NodeId, Parked, Platform, ReaderSlots, Wait, WaitArray,
};

pub use self::cell::SimCell;
use self::watch::watch;
pub use self::words::{SimPtr, SimU32, SimU64, SimUsize};
use crate::current::{suspend, with_engine};
use crate::engine::Engine;
use crate::ids::Id;
use crate::outcome::{Activity, TaskTimes};

/// The machine of the [`Simulation`](crate::Simulation) that runs on this host thread.
///
/// Outside a simulated task (while a simulation is set up or looked at afterwards) its atomics
/// and cells work and cost nothing, and its clock stands still.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sim;

impl Sim {
    /// Computes for a while without touching memory that others touch.
    pub fn work(duration: Cycles) {
        clock::work(duration);
    }

    /// Makes up for hardware threads that share the core. Accesses that hit the cache are charged as if
    /// the caller had its core alone. This adds by how much longer they took, for accesses that were
    /// charged `duration` so far.
    pub fn slow_down(duration: Cycles) {
        clock::slow_down(duration);
    }

    /// Lets everything happen that is earlier than the caller's time, as each access to memory does:
    /// for tasks that share something that is not simulated, such as a counter of the experiment.
    pub fn catch_up() {
        charge::give_way_to_earlier();
    }

    /// How long cores have done what for the calling task so far.
    #[must_use]
    pub fn times() -> TaskTimes {
        clock::times()
    }

    /// What the simulation has cost the host so far, in a measure that is the same on every host:
    /// about the number of memory operations that would have taken as long.
    #[must_use]
    pub fn effort() -> u64 {
        clock::effort()
    }

    /// Spins on `cell` until `done` accepts its value, but no longer than `patience`, and returns
    /// the value last read. It is a spin loop with a bound on its turns, and none of them is
    /// simulated by itself.
    pub fn watch_for<A: Atomic>(
        cell: &A,
        patience: Cycles,
        done: impl FnMut(A::Value) -> bool,
    ) -> A::Value {
        watch(cell, Activity::Spinning, Some(patience), done)
    }

    /// Keeps the calling task on its core until [`enable_preemption`](Self::enable_preemption), as the
    /// kernel does with a spin lock and while it waits for one: the end of its time slice and orders to
    /// move have to wait. Sections may lie inside one another, up to 255 deep.
    pub fn disable_preemption() {
        with_engine(Engine::enter_kernel);
    }

    /// Ends the innermost section without preemption. If it was the outermost, a time slice that has
    /// ended meanwhile ends now, and so does a stay on a core where the task may not run any more.
    ///
    /// # Panics
    /// Without [`disable_preemption`](Self::disable_preemption) before.
    pub fn enable_preemption() {
        if let Some(intent) = with_engine(Engine::leave_kernel).flatten() {
            suspend(intent);
        }
    }

    /// The calling task begins to wait for a lock, by spinning or asleep. Schedulers see for how long,
    /// also while it waits.
    pub fn lock_wait_begins(lock: LockLabel) {
        with_engine(|engine| engine.begin_lock_wait(lock));
    }

    /// The calling task has got the lock that it began to wait for.
    pub fn lock_acquired() {
        with_engine(Engine::end_lock_wait);
    }

    /// Does some instructions of a phase, as long as they take beside what the other cores execute.
    /// Returns what processors count. Stretches of 50 to 200 µs are right: much shorter than a time
    /// slice, and long beside what simulating one takes.
    ///
    /// # Panics
    /// Outside a task, and in a simulation without
    /// [`Simulation::share_caches`](crate::Simulation::share_caches).
    pub fn execute(phase: &Phase, instructions: f64) -> Executed {
        clock::execute(phase, instructions)
    }

    /// Sleeps in the operating system for a while, as a thread that waits for a device does.
    pub fn sleep(duration: Cycles) {
        clock::sleep(duration);
    }
}

// SAFETY: all tasks of a simulation run on one thread of the host, so that its words, which are
// those of `core`, are sequentially consistent, and the cell is an `UnsafeCell`; `wait_until`
// returns a value that `done` accepted, and `unpark` takes the address for a name.
unsafe impl Platform for Sim {
    type U32 = SimU32;
    type U64 = SimU64;
    type Usize = SimUsize;
    type Ptr<T: 'static> = SimPtr<T>;
    type Cell<T: Send + 'static> = SimCell<T>;

    fn cpu() -> CpuId {
        clock::cpu()
    }

    fn node() -> NodeId {
        clock::node()
    }

    fn now() -> Cycles {
        clock::now()
    }

    fn wait_until<A: Atomic>(cell: &A, how: Wait, done: impl FnMut(A::Value) -> bool) -> A::Value {
        let activity = match how {
            Wait::Spin => with_engine(|engine| engine.spinning()).unwrap_or(Activity::Spinning),
            Wait::LowPower => Activity::LowPower,
        };
        watch(cell, activity, None, done)
    }

    fn has_low_power_wait() -> bool {
        true
    }

    fn pause(turns: u32) {
        clock::pause(turns);
    }

    fn yield_now() {
        clock::yield_now();
    }

    fn park(cell: &SimU32, expected: u32, timeout: Option<Nanos>) -> Parked {
        futex::park(cell, expected, timeout)
    }

    fn unpark(cell: *const SimU32, count: u32) -> u32 {
        futex::unpark(cell, count)
    }

    fn wait_array() -> WaitArray<Self> {
        WaitArray::new(slots::wait_slots())
    }

    fn reader_slots() -> ReaderSlots<Self> {
        ReaderSlots::new(slots::reader_slots())
    }

    fn thread_key() -> usize {
        clock::task()
    }

    fn with_local<T, R>(value: T, work: impl FnOnce(&T) -> R) -> R {
        local::with_local(value, work)
    }

    fn discard<T>(object: *const T) {
        with_engine(|engine| {
            let line_shift = engine.costs.line_shift;
            engine.memory.forget(object.addr(), size_of::<T>(), line_shift);
        });
    }

    fn address_key<T>(object: &T) -> usize {
        let address = std::ptr::from_ref(object).addr();
        let key = with_engine(|engine| {
            let shift = engine.costs.line_shift;
            engine.line_at(address).index() << shift | address & ((1 << shift) - 1)
        });
        key.unwrap_or(0)
    }
}
