//! A platform with one property of its machine changed.
//!
//! The shipped source of every lock runs on it unchanged. A lock that relies on the property fails.
//!
//! An [`Alteration`] says which orderings are weakened, and whether the core can wait at low power
//! for a change of a cache line. Besides, every access to memory that the program has declared
//! [dead](bury) panics. This detects accesses to a lock after its holder has destroyed it.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::panic::Location;

use kilocore_platform::{
    Atomic, AtomicInt, CpuId, Cycles, Nanos, NodeId, Ordering, Padded, Parked, Platform,
    ReaderSlots, Wait, WaitArray,
};

use crate::planted::Error;
use crate::watched::Watched;
use crate::{Threads, planted, quarantine, weakening};

/// The property of a machine that is changed.
pub trait Alteration: Send + Sync + 'static {
    /// What a checker is told of loads.
    type Shadow: Shadow;
    /// Whether the core can wait at low power for a change of a cache line.
    const LOW_POWER: bool = false;
    /// Whether orderings lose their release half.
    const NO_RELEASE: bool = false;
    /// Whether orderings lose their acquire half.
    const NO_ACQUIRE: bool = false;
    /// Whether loads may be sequentially consistent.
    const SEQUENTIAL_LOADS: bool = false;
}

/// What a checker is told of loads, besides the load itself.
pub trait Shadow: Send + Sync + Sized + 'static {
    /// Creates the shadow of a new word.
    fn new() -> Self;
    /// Is called before the word is loaded.
    fn load(&self);
    /// Returns the waiting slots of platform `P`, with shadows.
    fn slots<P: Platform>() -> &'static [Padded<Shadowed<P::U32, Self>>];
    /// Returns the reader slots of platform `P`, with shadows.
    fn reader_slots<P: Platform>() -> &'static [Shadowed<P::Usize, Self>];
}

/// A word and its shadow.
#[derive(Debug)]
#[repr(C)]
pub struct Shadowed<T, S>(T, S);

impl Shadow for () {
    fn new() {}
    fn load(&self) {}
    fn slots<P: Platform>() -> &'static [Padded<Shadowed<P::U32, ()>>] {
        let slots: &'static [Padded<P::U32>] = P::wait_array().slots();
        let shadowed: *const [Padded<Shadowed<P::U32, ()>>] = std::ptr::from_ref(slots) as *const _;
        // SAFETY: the shadow `()` has no size, so `Shadowed` has the layout of the word alone.
        // `Shadowed` and `Padded` are `repr(C)`, so that both slices have the same layout. The
        // slots live as long as before.
        unsafe { &*shadowed }
    }
    fn reader_slots<P: Platform>() -> &'static [Shadowed<P::Usize, ()>] {
        // SAFETY: the slots are handed on to the same locks.
        let slots: &'static [P::Usize] = unsafe { P::reader_slots().slots() };
        let shadowed: *const [Shadowed<P::Usize, ()>] = std::ptr::from_ref(slots) as *const _;
        // SAFETY: the layouts are the same, as for the waiting slots above.
        unsafe { &*shadowed }
    }
}

/// A second word beside each word. Every load of the word also exchanges the second one.
///
/// loom remembers the last access to a word, and explores executions in which the next conflicting
/// access comes before it. If a thread loads a word and then exchanges it, the last access before
/// the exchange is the thread's own load. So loom misses that the exchange could have come before
/// another thread's load. When every load is also an exchange, the thread's own load conflicts with
/// the other thread's load, and loom explores both orders. The exchange is relaxed, so it orders
/// nothing.
#[derive(Debug)]
pub struct LoadsConflict(loom::sync::atomic::AtomicUsize);

impl Shadow for LoadsConflict {
    fn new() -> Self {
        Self(loom::sync::atomic::AtomicUsize::new(0))
    }
    fn load(&self) {
        self.0.fetch_add(0, Ordering::Relaxed);
    }
    fn slots<P: Platform>() -> &'static [Padded<Shadowed<P::U32, Self>>] {
        let slots: &'static dyn Any = &*SHADOWED_SLOTS;
        let slots = slots.downcast_ref::<Slots<P::U32>>();
        let slots: &'static [_] = slots.expect("only loom needs to be told of loads");
        let dropped: *const [Padded<Shadowed<P::U32, Self>>] =
            std::ptr::from_ref(slots) as *const _;
        // SAFETY: `ManuallyDrop` has the same layout as what is in it.
        unsafe { &*dropped }
    }
    fn reader_slots<P: Platform>() -> &'static [Shadowed<P::Usize, Self>] {
        let slots: &'static dyn Any = &*SHADOWED_READER_SLOTS;
        let slots = slots.downcast_ref::<PlainSlots<P::Usize>>();
        let slots: &'static [_] = slots.expect("only loom needs to be told of loads");
        let dropped: *const [Shadowed<P::Usize, Self>] = std::ptr::from_ref(slots) as *const _;
        // SAFETY: as above.
        unsafe { &*dropped }
    }
}

/// The thread that frees a word is its last user: all loads by other threads have happened before.
/// loom checks that only if the word is changed without atomics, as it is here.
impl Drop for LoadsConflict {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
    }
}

/// The waiting slots, as many as the checkers' platforms have.
type Slots<T> = [Padded<Shadowed<T, ManuallyDrop<LoadsConflict>>>; 2];

loom::lazy_static! {
    static ref SHADOWED_SLOTS: Slots<loom::sync::atomic::AtomicU32> = std::array::from_fn(|_| {
        // The slots outlive the execution, and loom must not be told of their end.
        Padded(Shadowed(loom::sync::atomic::AtomicU32::new(0), ManuallyDrop::new(LoadsConflict::new())))
    });
}

/// The reader slots, as many.
type PlainSlots<T> = [Shadowed<T, ManuallyDrop<LoadsConflict>>; 2];

loom::lazy_static! {
    static ref SHADOWED_READER_SLOTS: PlainSlots<loom::sync::atomic::AtomicUsize> =
        std::array::from_fn(|_| {
            let word = loom::sync::atomic::AtomicUsize::new(0);
            Shadowed(word, ManuallyDrop::new(LoadsConflict::new()))
        });
}

/// Nothing is changed, but accesses to dead memory are detected.
#[derive(Debug)]
pub struct Sound<S = ()>(PhantomData<S>);
impl<S: Shadow> Alteration for Sound<S> {
    type Shadow = S;
}

/// Like [`Sound`], but makes loom treat all loads as conflicting. Only for loom. It takes several
/// times as long.
pub type Thorough = Sound<LoadsConflict>;

/// Loads may be sequentially consistent, so that loom runs what ships. For checks of such loads: others
/// may overlook a missing acquire or release.
#[derive(Debug)]
pub struct Sequential<S = LoadsConflict>(PhantomData<S>);
impl<S: Shadow> Alteration for Sequential<S> {
    type Shadow = S;
    const SEQUENTIAL_LOADS: bool = true;
}

/// The core can wait at low power for a change of a cache line.
#[derive(Debug)]
pub struct LowPower<S = ()>(PhantomData<S>);
impl<S: Shadow> Alteration for LowPower<S> {
    type Shadow = S;
    const LOW_POWER: bool = true;
}

/// No operation publishes what happened before it.
#[derive(Debug)]
pub struct NoRelease<S = ()>(PhantomData<S>);
impl<S: Shadow> Alteration for NoRelease<S> {
    type Shadow = S;
    const NO_RELEASE: bool = true;
}

/// No operation makes visible what was published.
#[derive(Debug)]
pub struct NoAcquire<S = ()>(PhantomData<S>);
impl<S: Shadow> Alteration for NoAcquire<S> {
    type Shadow = S;
    const NO_ACQUIRE: bool = true;
}

/// The platform `P`, altered by `A`.
#[derive(Debug)]
pub struct Altered<P, A>(PhantomData<(P, A)>);

/// An atomic of the altered platform.
#[derive(Debug)]
#[repr(C)]
pub struct Word<T: Atomic, A: Alteration>(T, A::Shadow);

fn weaken<A: Alteration>(order: Ordering) -> Ordering {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    match (order, A::NO_RELEASE, A::NO_ACQUIRE) {
        (Release, true, _) | (Acquire, _, true) => Relaxed,
        (AcqRel | SeqCst, true, true) => Relaxed,
        (AcqRel | SeqCst, true, false) => Acquire,
        (AcqRel | SeqCst, false, true) => Release,
        _ => order,
    }
}

/// Like `weaken`, but for loads: a sequentially consistent load cannot become a release.
fn weaken_load<A: Alteration>(order: Ordering) -> Ordering {
    match (order, A::NO_ACQUIRE) {
        (Ordering::SeqCst, true) => Ordering::Relaxed,
        (Ordering::SeqCst, false) if !A::SEQUENTIAL_LOADS => Ordering::Acquire,
        _ => weaken::<A>(order),
    }
}

/// Like `weaken`, but for stores: a sequentially consistent store cannot become an acquire.
fn weaken_store<A: Alteration>(order: Ordering) -> Ordering {
    match (order, A::NO_RELEASE) {
        (Ordering::SeqCst, true) => Ordering::Relaxed,
        (Ordering::SeqCst, false) => Ordering::Release,
        _ => weaken::<A>(order),
    }
}

/// Returns the error that is planted in the call that is being made.
#[track_caller]
fn error() -> Option<Error> {
    planted::error(Location::caller())
}

/// The load that replaces an operation without effect, or that is the first of two steps.
fn look<T: Atomic>(word: &T) -> T::Value {
    word.load(Ordering::Acquire)
}

/// Returns the ordering to use as number `operand` of the call that is being made. In the source it
/// is `order`.
#[track_caller]
fn asked(operand: usize, order: Ordering) -> Ordering {
    match error() {
        Some(Error::Weakened(weaker)) if operand == 0 => weaker,
        _ => weakening::order(Location::caller(), operand, order),
    }
}

thread_local! {
    // A checker runs all its threads on one thread of the operating system, so that this is the
    // state of an execution.
    static DEAD: RefCell<Vec<Range<usize>>> = const { RefCell::new(Vec::new()) };
    static DYING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `destroy` for `object` and declares its memory dead: from then on, any access to an atomic
/// in it panics. The caller must keep the memory allocated until the execution ends.
pub fn bury<T>(object: *const T, destroy: impl FnOnce()) {
    DYING.set(true);
    destroy();
    DYING.set(false);
    let start = object.addr();
    DEAD.with_borrow_mut(|dead| dead.push(start..start + size_of::<T>()));
}

/// Declares no memory dead any more. Must be called at the start of an execution.
pub fn exhume_all() {
    DYING.set(false);
    DEAD.with_borrow_mut(Vec::clear);
}

impl<T: Atomic, A: Alteration> Word<T, A> {
    /// Performs `operation`. Whether the word is dead is checked afterwards, because the checker
    /// switches threads at the start of an operation.
    fn living<R>(&self, operation: impl FnOnce(&T) -> R) -> R {
        let result = operation(&self.0);
        let address = std::ptr::from_ref(self).addr();
        let dead = DEAD.with_borrow(|dead| dead.iter().any(|range| range.contains(&address)));
        assert!(!dead, "the lock is touched after its last holder destroyed it");
        assert!(!quarantine::is_dead(address), "an object is touched after it was given back");
        result
    }
}

impl<T: Atomic, A: Alteration> Drop for Word<T, A> {
    #[inline(never)]
    fn drop(&mut self) {
        if DYING.get() && !std::thread::panicking() {
            // A write, so that for the checker the end of this word conflicts with every access.
            // The checker then tries both orders.
            let last = self.0.load(Ordering::Relaxed);
            self.0.swap(last, Ordering::Relaxed);
        }
    }
}

// Nothing here is inlined: a lock has dozens of such calls, and each check has every lock in it. Inlined,
// they took most of the time in which the checks are built.
impl<T: Atomic, A: Alteration> Atomic for Word<T, A> {
    type Value = T::Value;

    #[inline(never)]
    fn new(value: T::Value) -> Self {
        Self(T::new(value), A::Shadow::new())
    }
    #[inline(never)]
    #[track_caller]
    fn load(&self, order: Ordering) -> T::Value {
        let order = asked(0, order);
        self.1.load();
        self.living(|word| word.load(weaken_load::<A>(order)))
    }
    #[inline(never)]
    #[track_caller]
    fn store(&self, value: T::Value, order: Ordering) {
        let order = asked(0, order);
        if error() == Some(Error::Lost) {
            return;
        }
        self.living(|word| word.store(value, weaken_store::<A>(order)));
    }
    #[inline(never)]
    #[track_caller]
    fn swap(&self, value: T::Value, order: Ordering) -> T::Value {
        let order = asked(0, order);
        match error() {
            Some(Error::Lost) => self.living(look),
            Some(Error::InTwoSteps) => {
                let before = self.living(look);
                self.living(|word| word.store(value, Ordering::Release));
                before
            }
            _ => self.living(|word| word.swap(value, weaken::<A>(order))),
        }
    }
    #[inline(never)]
    #[track_caller]
    fn compare_exchange(
        &self,
        current: T::Value,
        new: T::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T::Value, T::Value> {
        let (success, failure) = (asked(0, success), asked(1, failure));
        let (success, failure) = (weaken::<A>(success), weaken_load::<A>(failure));
        if error() != Some(Error::InTwoSteps) {
            return self.living(|word| word.compare_exchange(current, new, success, failure));
        }
        let before = self.living(look);
        if before != current {
            return Err(before);
        }
        self.living(|word| word.store(new, Ordering::Release));
        Ok(before)
    }
    #[inline(never)]
    #[track_caller]
    fn compare_exchange_weak(
        &self,
        current: T::Value,
        new: T::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T::Value, T::Value> {
        let (success, failure) = (asked(0, success), asked(1, failure));
        let (success, failure) = (weaken::<A>(success), weaken_load::<A>(failure));
        self.living(|word| word.compare_exchange_weak(current, new, success, failure))
    }
}

impl<T: AtomicInt, A: Alteration> AtomicInt for Word<T, A> {
    #[inline(never)]
    #[track_caller]
    fn fetch_add(&self, value: T::Value, order: Ordering) -> T::Value {
        let order = asked(0, order);
        if error() == Some(Error::Lost) {
            return self.living(look);
        }
        self.living(|word| word.fetch_add(value, weaken::<A>(order)))
    }
    #[inline(never)]
    #[track_caller]
    fn fetch_sub(&self, value: T::Value, order: Ordering) -> T::Value {
        let order = asked(0, order);
        if error() == Some(Error::Lost) {
            return self.living(look);
        }
        self.living(|word| word.fetch_sub(value, weaken::<A>(order)))
    }
    #[inline(never)]
    #[track_caller]
    fn fetch_and(&self, value: T::Value, order: Ordering) -> T::Value {
        let order = asked(0, order);
        if error() == Some(Error::Lost) {
            return self.living(look);
        }
        self.living(|word| word.fetch_and(value, weaken::<A>(order)))
    }
    #[inline(never)]
    #[track_caller]
    fn fetch_or(&self, value: T::Value, order: Ordering) -> T::Value {
        let order = asked(0, order);
        if error() == Some(Error::Lost) {
            return self.living(look);
        }
        self.living(|word| word.fetch_or(value, weaken::<A>(order)))
    }
}

// SAFETY: everything is done by `P`. Only a checker may be altered, as `CHECKED` asserts. If a lost
// ordering leads to a race, the checker reports the race instead of letting it happen.
unsafe impl<P: Platform, A: Alteration> Platform for Altered<P, A> {
    type U32 = Word<P::U32, A>;
    type U64 = Word<P::U64, A>;
    type Usize = Word<P::Usize, A>;
    type Ptr<T: 'static> = Word<P::Ptr<T>, A>;
    type Cell<T: Send + 'static> = P::Cell<T>;

    const CHECKED: bool = {
        assert!(P::CHECKED, "only a checker can be altered: others would let a race happen");
        true
    };
    const SEQUENTIAL_LOADS: bool = A::SEQUENTIAL_LOADS;

    fn cpu() -> CpuId {
        P::cpu()
    }
    fn node() -> NodeId {
        P::node()
    }
    fn now() -> Cycles {
        P::now()
    }
    #[track_caller]
    fn wait_until<W: Atomic>(cell: &W, how: Wait, done: impl FnMut(W::Value) -> bool) -> W::Value {
        P::wait_until(&Watched(cell, asked(0, Ordering::Acquire)), how, done)
    }
    fn has_low_power_wait() -> bool {
        A::LOW_POWER
    }
    fn pause(turns: u32) {
        P::pause(turns);
    }
    fn yield_now() {
        P::yield_now();
    }
    fn park(cell: &Self::U32, expected: u32, timeout: Option<Nanos>) -> Parked {
        cell.living(|word| P::park(word, expected, timeout))
    }
    fn unpark(cell: *const Self::U32, count: u32) -> u32 {
        // The word inside is at the same address as the `Word`.
        P::unpark(cell.cast(), count)
    }
    fn wait_array() -> WaitArray<Self> {
        let altered: *const [Padded<Self::U32>] =
            std::ptr::from_ref(A::Shadow::slots::<P>()) as *const _;
        // SAFETY: `Word` and `Shadowed` are both `repr(C)`, as is `Padded`, and have the same
        // fields, so that both slices have the same layout. The slots live as long as before.
        WaitArray::new(unsafe { &*altered })
    }
    fn reader_slots() -> ReaderSlots<Self> {
        let altered: *const [Self::Usize] =
            std::ptr::from_ref(A::Shadow::reader_slots::<P>()) as *const _;
        // SAFETY: as in `wait_array`.
        ReaderSlots::new(unsafe { &*altered })
    }
    fn thread_key() -> usize {
        P::thread_key()
    }
    fn address_key<T>(object: &T) -> usize {
        P::address_key(object)
    }
    fn discard<T>(object: *const T) {
        P::discard(object);
        quarantine::discard(object.addr()..object.addr() + size_of::<T>());
    }
}

impl<P: Threads, A: Alteration> Threads for Altered<P, A> {
    type Handle = P::Handle;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle {
        P::spawn(run)
    }
    fn join(handle: Self::Handle) {
        P::join(handle);
    }
}
