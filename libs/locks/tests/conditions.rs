//! The condition variable under loom, and with more threads under shuttle: signals and broadcasts
//! arrive, one that gives up takes no signal with it, it may be destroyed as soon as nobody is
//! blocked, and a child of a fork finds it empty.

use crate::common;

use std::mem::MaybeUninit;
use std::sync::Arc;

use common::altered::{Altered, Sound, Thorough, bury, exhume_all, model};
use common::{Threads, explore_part};
use kilocore_locks::sleeper_state::{LEAVING, WOKEN, WOKEN_AMONG};
use kilocore_locks::{Condition, Futex, RawLock, Sleeper};
use kilocore_platform::{Atomic, AtomicInt, Loom, Nanos, Ordering, Platform, SharedCell, Shuttle};

type OnLoom = Altered<Loom, Thorough>;
type OnShuttle = Altered<Shuttle, Sound>;

const SCHEDULES: usize = 3_000;
const DEPTH: usize = 4;
const PROCESS: u32 = 1;

/// How a wait ended.
#[derive(PartialEq, Eq)]
enum End {
    Woken,
    GaveUp,
}

/// What threads wait for: passes, each good for one.
struct Gate<P: Platform> {
    lock: Futex<P>,
    condition: MaybeUninit<Condition<P>>,
    passes: P::Cell<u32>,
}

impl<P: Threads> Gate<P> {
    fn new() -> Arc<Self> {
        exhume_all();
        Arc::new(Self {
            lock: Futex::new(),
            condition: MaybeUninit::new(Condition::default()),
            passes: P::Cell::new(0),
        })
    }

    fn condition(&self) -> &Condition<P> {
        // SAFETY: it was initialized, and nobody asks for it once it is destroyed.
        unsafe { self.condition.assume_init_ref() }
    }

    fn locked<R>(&self, work: impl FnOnce(&mut u32) -> R) -> R {
        self.lock.acquire(&mut ());
        let result = self.passes.with_mut(|passes| {
            // SAFETY: the lock is held.
            work(unsafe { &mut *passes })
        });
        // SAFETY: acquired above.
        unsafe { self.lock.release(&mut ()) };
        result
    }

    /// Sleeps until woken; with the lock held, which is released meanwhile.
    fn wait(&self, process: u32) {
        let mut sleeper = Sleeper::default();
        let sleeper = &raw mut sleeper;
        // SAFETY: the sleeper stays here until it is woken, and the lock is held.
        unsafe {
            self.condition().enlist(sleeper, process);
            self.lock.release(&mut ());
            self.condition().sleep(sleeper, process, || None);
        }
        self.lock.acquire(&mut ());
    }

    /// Sleeps until woken, but not for long. Says how the wait ended.
    fn wait_a_moment(&self) -> End {
        let mut sleeper = Sleeper::default();
        let sleeper = &raw mut sleeper;
        self.lock.acquire(&mut ());
        // SAFETY: the sleeper stays here until it is off the list, and the lock is held.
        let timed_out = unsafe {
            self.condition().enlist(sleeper, PROCESS);
            self.lock.release(&mut ());
            P::yield_now();
            self.condition().sleep(sleeper, PROCESS, || Some(Nanos(0)))
        };
        if timed_out { End::GaveUp } else { End::Woken }
    }

    /// Takes a pass, and waits until there is one.
    fn pass(&self, process: u32) {
        self.lock.acquire(&mut ());
        while self.passes.with(|passes| {
            // SAFETY: the lock is held, here and below.
            unsafe { *passes == 0 }
        }) {
            self.wait(process);
        }
        // SAFETY: as above.
        self.passes.with_mut(|passes| unsafe { *passes -= 1 });
        // SAFETY: as above.
        unsafe { self.lock.release(&mut ()) };
    }

    /// Waits and gives up at once; if it was woken all the same, passes the signal on.
    fn give_up(&self) -> End {
        let mut sleeper = Sleeper::default();
        let sleeper = &raw mut sleeper;
        self.lock.acquire(&mut ());
        // SAFETY: the sleeper stays here until it is off the list, and the lock is held.
        unsafe {
            self.condition().enlist(sleeper, PROCESS);
            self.lock.release(&mut ());
            P::yield_now();
            match Sleeper::leave(sleeper) {
                Ok(()) => {
                    assert_eq!((*sleeper).state.load(Ordering::Relaxed), LEAVING);
                    self.condition().delist(sleeper, PROCESS);
                    return End::GaveUp;
                }
                Err(WOKEN_AMONG) => {
                    self.condition().signal(PROCESS);
                    self.condition().depart();
                }
                Err(state) => assert_eq!(state, WOKEN),
            }
        }
        End::Woken
    }
}

/// `waiters` wait for a pass each, and get them one by one or all at once.
fn passes_arrive<P: Threads>(waiters: u32, all_at_once: bool, under_the_lock: bool) {
    let gate = Gate::<P>::new();
    let others: Vec<_> = (0..waiters)
        .map(|_| {
            let gate = gate.clone();
            P::spawn(move || gate.pass(PROCESS))
        })
        .collect();
    let tell = |gate: &Gate<P>| {
        if all_at_once {
            gate.condition().broadcast(PROCESS);
        } else {
            gate.condition().signal(PROCESS);
        }
    };
    let (times, passes) = if all_at_once { (1, waiters) } else { (waiters, 1) };
    for _ in 0..times {
        gate.locked(|left| {
            *left += passes;
            if under_the_lock {
                tell(&gate);
            }
        });
        if !under_the_lock {
            tell(&gate);
        }
    }
    others.into_iter().for_each(P::join);
    assert_eq!(gate.locked(|left| *left), 0);
}

#[test]
fn a_signal_arrives() {
    model(Some(3), || passes_arrive::<OnLoom>(1, false, true));
    model(Some(3), || passes_arrive::<OnLoom>(1, false, false));
}

#[test]
fn signals_and_broadcasts_arrive_under_shuttle() {
    for all_at_once in [false, true] {
        for under_the_lock in [false, true] {
            explore_part(
                move || passes_arrive::<OnShuttle>(3, all_at_once, under_the_lock),
                SCHEDULES,
                DEPTH,
            );
        }
    }
}

/// One gives up while another waits for the only signal: whoever of the two it finds, the other
/// gets it in the end.
fn gives_up_beside<P: Threads>() {
    let gate = Gate::<P>::new();
    let patient = {
        let gate = gate.clone();
        P::spawn(move || gate.pass(PROCESS))
    };
    let impatient = {
        let gate = gate.clone();
        P::spawn(move || {
            gate.give_up();
        })
    };
    gate.locked(|left| *left = 1);
    gate.condition().signal(PROCESS);
    P::join(patient);
    P::join(impatient);
    gate.condition().destroy(PROCESS);
}

#[test]
fn who_gives_up_takes_no_signal_along_under_shuttle() {
    explore_part(gives_up_beside::<OnShuttle>, SCHEDULES, DEPTH);
}

/// A signal and giving up, under loom: either it was woken or it left, and nobody is listed.
#[test]
fn giving_up_and_being_woken_agree() {
    model(Some(3), || {
        let gate = Gate::<OnLoom>::new();
        let other = {
            let gate = gate.clone();
            OnLoom::spawn(move || {
                gate.give_up();
            })
        };
        gate.condition().signal(PROCESS);
        gate.condition().destroy(PROCESS);
        OnLoom::join(other);
    });
}

/// Threads wait for a moment while others are signalled: as many say that they were woken as the
/// signals say that they woke.
fn counts_agree<P: Threads>(waiters: usize, signals: usize, all_at_once: bool) {
    let gate = Gate::<P>::new();
    let woken = Arc::new(P::U32::new(0));
    let others: Vec<_> = (0..waiters)
        .map(|_| {
            let (gate, woken) = (gate.clone(), woken.clone());
            P::spawn(move || {
                if gate.wait_a_moment() == End::Woken {
                    woken.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let mut told = 0;
    for _ in 0..signals {
        told += if all_at_once {
            gate.condition().broadcast(PROCESS)
        } else {
            usize::from(gate.condition().signal(PROCESS))
        };
    }
    others.into_iter().for_each(P::join);
    assert_eq!(woken.load(Ordering::Relaxed) as usize, told, "a signal was counted wrongly");
    gate.condition().destroy(PROCESS);
}

#[test]
fn signals_say_whom_they_woke() {
    model(Some(3), || counts_agree::<OnLoom>(1, 1, false));
    model(Some(3), || counts_agree::<OnLoom>(1, 1, true));
    for all_at_once in [false, true] {
        explore_part(move || counts_agree::<OnShuttle>(3, 2, all_at_once), SCHEDULES, DEPTH);
    }
}

/// What a thread does before it signals or broadcasts, though without the lock, is seen by the thread
/// that this wakes, before that has the lock.
fn tells<P: Threads, R: 'static>(tell: fn(&Condition<P>) -> R, wait: fn(&Gate<P>) -> End) {
    let gate = Gate::<P>::new();
    let said = Arc::new(P::Cell::new(false));
    let other = {
        let (gate, said) = (gate.clone(), said.clone());
        P::spawn(move || {
            if wait(&gate) == End::Woken {
                // SAFETY: written before the signal that has ended the wait, and not afterwards.
                assert!(said.with(|said| unsafe { *said }));
            }
        })
    };
    // SAFETY: it is read by a thread that has been woken only, which happens below.
    said.with_mut(|said| unsafe { *said = true });
    tell(gate.condition());
    P::join(other);
}

#[test]
fn who_is_woken_sees_what_went_before() {
    for wait in [Gate::give_up, Gate::wait_a_moment] {
        model(Some(3), move || tells::<OnLoom, _>(|condition| condition.signal(PROCESS), wait));
        model(Some(3), move || tells::<OnLoom, _>(|condition| condition.broadcast(PROCESS), wait));
    }
}

/// One that was woken among others uses the condition until it reports its departure. Whoever then
/// destroys the condition has its memory for something else.
fn departs_before_it_is_destroyed<P: Threads>() {
    let gate = Gate::<P>::new();
    let memory = Arc::new(P::Cell::new(()));
    let sleepers: [Arc<Sleeper<P>>; 2] = Default::default();
    let [woken, leaving] = sleepers.each_ref().map(|sleeper| Arc::as_ptr(sleeper).cast_mut());
    for sleeper in [woken, leaving] {
        // SAFETY: new, and kept here to the end.
        unsafe { gate.condition().enlist(sleeper, PROCESS) };
    }
    let other = {
        let (gate, memory, woken) = (gate.clone(), memory.clone(), sleepers[0].clone());
        P::spawn(move || {
            loop {
                match woken.state.load(Ordering::Acquire) {
                    WOKEN_AMONG => break,
                    state => P::park(&woken.state, state, None),
                };
            }
            memory.with(|_| ());
            gate.condition().depart();
        })
    };
    gate.condition().signal(PROCESS);
    // SAFETY: this thread's, enlisted above.
    let left = unsafe { Sleeper::leave(leaving) };
    assert_eq!(left, Ok(()), "the first is woken first");
    // SAFETY: it has left just now.
    unsafe { gate.condition().delist(leaving, PROCESS) };
    gate.condition().destroy(PROCESS);
    memory.with_mut(|_| ());
    P::join(other);
}

#[test]
fn who_was_woken_departs_before_it_is_destroyed() {
    model(Some(3), departs_before_it_is_destroyed::<OnLoom>);
}

/// Whoever broadcasts destroys at once, and nobody touches it afterwards.
fn destroyed_after_broadcast<P: Threads>(waiters: u32) {
    let gate = Gate::<P>::new();
    let others: Vec<_> = (0..waiters)
        .map(|_| {
            let gate = gate.clone();
            P::spawn(move || {
                // Waits once: after the broadcast the condition is gone.
                gate.lock.acquire(&mut ());
                // SAFETY: the lock is held.
                if gate.passes.with(|passes| unsafe { *passes == 0 }) {
                    gate.wait(PROCESS);
                }
                // SAFETY: held, having waited or not.
                unsafe { gate.lock.release(&mut ()) };
            })
        })
        .collect();
    gate.locked(|passes| {
        *passes = 1;
        gate.condition().broadcast(PROCESS);
        gate.condition().destroy(PROCESS);
        bury(gate.condition.as_ptr(), || {});
    });
    others.into_iter().for_each(P::join);
}

#[test]
fn it_can_be_destroyed_right_after_a_broadcast() {
    model(Some(3), || destroyed_after_broadcast::<OnLoom>(1));
}

#[test]
fn it_can_be_destroyed_right_after_a_broadcast_under_shuttle() {
    explore_part(|| destroyed_after_broadcast::<OnShuttle>(3), SCHEDULES, DEPTH);
}

/// A thread begins to destroy the condition while others sleep there whom nobody has woken yet. It goes
/// on once signals, or a broadcast, have woken them, and nobody touches the condition afterwards.
fn destroyed_before_all_are_woken<P: Threads>(sleepers: usize, all_at_once: bool) {
    let gate = Gate::<P>::new();
    let beds: Vec<_> = (0..sleepers).map(|_| Arc::<Sleeper<P>>::default()).collect();
    for bed in &beds {
        // SAFETY: new, and kept here to the end.
        unsafe { gate.condition().enlist(Arc::as_ptr(bed).cast_mut(), PROCESS) };
    }
    let sleep = |bed: Arc<Sleeper<P>>| {
        let gate = gate.clone();
        P::spawn(move || {
            let bed = Arc::as_ptr(&bed).cast_mut();
            // SAFETY: enlisted above, for this thread.
            unsafe { gate.condition().sleep(bed, PROCESS, || None) };
        })
    };
    let mut others: Vec<_> = beds.into_iter().map(sleep).collect();
    others.push({
        let gate = gate.clone();
        P::spawn(move || {
            if all_at_once {
                assert_eq!(gate.condition().broadcast(PROCESS), sleepers);
            } else {
                (0..sleepers).for_each(|_| assert!(gate.condition().signal(PROCESS)));
            }
        })
    });
    gate.condition().destroy(PROCESS);
    bury(gate.condition.as_ptr(), || {});
    others.into_iter().for_each(P::join);
}

#[test]
fn it_is_destroyed_once_all_have_been_woken() {
    for all_at_once in [false, true] {
        model(Some(3), move || destroyed_before_all_are_woken::<OnLoom>(1, all_at_once));
        model(Some(1), move || destroyed_before_all_are_woken::<OnLoom>(2, all_at_once));
        explore_part(
            move || destroyed_before_all_are_woken::<OnShuttle>(3, all_at_once),
            SCHEDULES,
            DEPTH,
        );
    }
}

/// A child finds a condition on which a thread of its parent sleeps, and another that had been
/// woken and has not reported; both are not there. New threads use it, and it can be destroyed.
fn inherited<P: Threads>(waiters: u32) {
    const CHILD: u32 = PROCESS + 1;
    let gate = Gate::<P>::new();
    // They outlive the execution, as memory of the parent's threads outlives these in the child.
    for _ in 0..2 {
        let phantom = Box::leak(Box::<Sleeper<P>>::default());
        // SAFETY: it stays for ever.
        unsafe { gate.condition().enlist(phantom, PROCESS) };
    }
    gate.condition().signal(PROCESS);
    let others: Vec<_> = (0..waiters)
        .map(|_| {
            let gate = gate.clone();
            P::spawn(move || gate.pass(CHILD))
        })
        .collect();
    for _ in 0..waiters {
        gate.locked(|left| *left += 1);
        gate.condition().signal(CHILD);
    }
    others.into_iter().for_each(P::join);
    gate.condition().destroy(CHILD);
}

#[test]
fn a_child_finds_nobody_there() {
    model(Some(2), || inherited::<OnLoom>(1));
}

#[test]
fn a_child_finds_nobody_there_under_shuttle() {
    explore_part(|| inherited::<OnShuttle>(3), SCHEDULES, DEPTH);
}
