//! What the platforms of the model checkers have in common.
//!
//! loom and shuttle offer the same `sync`, `thread`, `thread_local!` and `lazy_static!`, so one
//! macro writes both platforms. They differ in the types of their atomics and in the shared cell.
//!
//! # The futex
//! Each execution has one table, under the checker's own mutex, of the threads that are parked and
//! on which word. [`Platform::park`](crate::Platform::park) compares the word and enters the table
//! in one critical section, as the kernel does under the lock of a hash bucket. It returns only
//! after an [`Platform::unpark`](crate::Platform::unpark), although the contract allows spurious
//! wake-ups: such a wake-up would hide that one was lost. Here, a lost wake-up ends as a deadlock,
//! which the checker reports. The thread that has been parked longest is woken first, as in Linux
//! among equals.
//!
//! # Time and place
//! There is no clock: [`now`](crate::Platform::now) always returns 0. A park with a time limit
//! lasts the shortest time that is allowed, which is none. A thread sets with `place` the core and
//! the node on which it believes to run.

/// How many wait slots and reader slots a checker's machine has: so few that threads meet.
pub(crate) const CHECKER_WAIT_SLOTS: usize = 2;

/// Writes the module `model` and `impl Platform for $name` from the checker crate `$checker`.
macro_rules! checker_platform {
    ($name:ident, $checker:ident, $cell:ident) => {
        /// The state of the machine: one set of statics per execution.
        mod model {
            use core::cell::Cell;
            use std::vec::Vec;
            use $checker::sync::atomic::{AtomicU32, AtomicUsize};
            use $checker::sync::{Arc, Condvar, Mutex};

            use $crate::checker::CHECKER_WAIT_SLOTS;
            use $crate::{CpuId, NodeId, Padded};

            /// A thread that sleeps on a word.
            pub(super) struct Sleeper {
                /// The address of the word.
                pub(super) word: usize,
                /// Which sleep this is, so that the sleeper finds out that it was taken out.
                pub(super) sleep: u64,
                /// The condition variable on which it sleeps.
                pub(super) bed: Arc<Condvar>,
            }

            /// Who is parked, the one parked longest first.
            #[derive(Default)]
            pub(super) struct Futexes {
                pub(super) sleepers: Vec<Sleeper>,
                pub(super) sleeps: u64,
            }

            $checker::lazy_static! {
                pub(super) static ref FUTEXES: Mutex<Futexes> = Mutex::new(Futexes::default());
                pub(super) static ref WAIT_SLOTS: [Padded<AtomicU32>; CHECKER_WAIT_SLOTS] =
                    core::array::from_fn(|_| Padded(AtomicU32::new(0)));
                pub(super) static ref READER_SLOTS: [AtomicUsize; CHECKER_WAIT_SLOTS] =
                    core::array::from_fn(|_| AtomicUsize::new(0));
            }

            $checker::thread_local! {
                pub(super) static PLACE: Cell<(CpuId, NodeId)> =
                    Cell::new((CpuId(0), NodeId(0)));
            }
        }

        impl $name {
            /// Makes the calling thread believe that it runs on this core of this node, until
            /// it says otherwise. A thread that never does runs on core 0 of node 0.
            pub fn place(cpu: CpuId, node: NodeId) {
                model::PLACE.with(|place| place.set((cpu, node)));
            }

            /// How many threads are parked on `cell` now.
            pub fn parked_on(cell: &<Self as Platform>::U32) -> usize {
                let word = core::ptr::from_ref(cell).addr();
                let futexes = model::FUTEXES.lock().unwrap();
                futexes.sleepers.iter().filter(|sleeper| sleeper.word == word).count()
            }
        }

        // SAFETY: the words and cells are the checker's, which follow the memory model or are
        // stronger; `wait_until` returns after an acquire load whose value `done` accepted, and
        // `unpark` compares addresses only.
        unsafe impl Platform for $name {
            type U32 = AtomicU32;
            type U64 = AtomicU64;
            type Usize = AtomicUsize;
            type Ptr<T: 'static> = AtomicPtr<T>;
            type Cell<T: Send + 'static> = $cell<T>;

            const CHECKED: bool = true;

            fn cpu() -> CpuId {
                model::PLACE.with(|place| place.get().0)
            }

            fn node() -> NodeId {
                model::PLACE.with(|place| place.get().1)
            }

            fn now() -> Cycles {
                Cycles(0)
            }

            fn wait_until<A: Atomic>(
                cell: &A,
                _how: Wait,
                mut done: impl FnMut(A::Value) -> bool,
            ) -> A::Value {
                loop {
                    let value = cell.load(Ordering::Acquire);
                    if done(value) {
                        return value;
                    }
                    $checker::thread::yield_now();
                }
            }

            fn has_low_power_wait() -> bool {
                false
            }

            fn pause(turns: u32) {
                if turns > 0 {
                    $checker::thread::yield_now();
                }
            }

            fn yield_now() {
                $checker::thread::yield_now();
            }

            fn park(cell: &AtomicU32, expected: u32, timeout: Option<Nanos>) -> Parked {
                let mut futexes = model::FUTEXES.lock().unwrap();
                // No more than the kernel's plain read under its lock: the table's mutex makes
                // it see the stores before any `unpark` that went before.
                if cell.load(Ordering::Relaxed) != expected {
                    return Parked::Changed;
                }
                if timeout.is_some() {
                    drop(futexes);
                    $checker::thread::yield_now();
                    return Parked::TimedOut;
                }
                let sleep = futexes.sleeps;
                futexes.sleeps += 1;
                let bed = $checker::sync::Arc::new($checker::sync::Condvar::new());
                let word = core::ptr::from_ref(cell).addr();
                futexes.sleepers.push(model::Sleeper { word, sleep, bed: bed.clone() });
                while futexes.sleepers.iter().any(|sleeper| sleeper.sleep == sleep) {
                    futexes = bed.wait(futexes).unwrap();
                }
                Parked::Woken
            }

            fn unpark(cell: *const AtomicU32, count: u32) -> u32 {
                let word = cell.addr();
                let mut futexes = model::FUTEXES.lock().unwrap();
                let mut woken = 0;
                while woken < count
                    && let Some(at) =
                        futexes.sleepers.iter().position(|sleeper| sleeper.word == word)
                {
                    futexes.sleepers.remove(at).bed.notify_one();
                    woken += 1;
                }
                woken
            }

            fn wait_array() -> WaitArray<Self> {
                WaitArray::new(&*model::WAIT_SLOTS)
            }

            fn reader_slots() -> ReaderSlots<Self> {
                ReaderSlots::new(&*model::READER_SLOTS)
            }

            fn thread_key() -> usize {
                // The number of an execution's thread would do, but with two slots a program could
                // then not choose who meets whom.
                Self::cpu().0 as usize
            }

            fn address_key<T>(_object: &T) -> usize {
                // Addresses differ from one execution to the next, and a checker replays: the
                // same key for all makes all waiters share the few slots, in a fixed way.
                0
            }
        }
    };
}
pub(crate) use checker_platform;
