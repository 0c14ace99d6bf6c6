//! The locks with data: one program under `parking_lot` and under every lock, with one line changed;
//! what threads keep for locks; deadlines, conditions and readers.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use kilocore_locks::sync::lock_api::RawMutex as _;
use kilocore_locks::sync::{self, RawMutex};
use kilocore_locks::{Clh, KeepsThread, LockId, RawLock};
use kilocore_platform::Native;

/// Jobs for each producer of the program below.
const JOBS: u64 = 300;
const PRODUCERS: u64 = 3;

/// Writes a program of producers and consumers that takes its locks from `$path`. Its one line is
/// the `use`.
macro_rules! program {
    ($module:ident, $path:path) => {
        mod $module {
            use super::{Arc, Duration, JOBS, PRODUCERS, VecDeque, thread};

            use $path::{Condvar, MappedMutexGuard, Mutex, MutexGuard};

            /// A queue with room for two jobs.
            struct Queue {
                jobs: Mutex<VecDeque<u64>>,
                room: Condvar,
                more: Condvar,
            }

            type Finished = (u32, &'static str);

            static FINISHED: Mutex<Finished> = Mutex::new((0, "consumers"));

            fn finished(guard: MutexGuard<'_, Finished>) -> MappedMutexGuard<'_, u32> {
                MutexGuard::map(guard, |(count, _)| count)
            }

            fn consume(queue: &Queue) -> u64 {
                let mut sum = 0;
                loop {
                    let mut jobs = queue.jobs.lock();
                    queue.more.wait_while(&mut jobs, |jobs| jobs.is_empty());
                    let job = jobs.pop_front().unwrap();
                    drop(jobs);
                    queue.room.notify_one();
                    if job == 0 {
                        *finished(FINISHED.lock()) += 1;
                        return sum;
                    }
                    sum += job;
                }
            }

            fn produce(queue: &Queue, job: u64) {
                let mut jobs = queue.jobs.lock();
                while jobs.len() >= 2 {
                    queue.room.wait_for(&mut jobs, Duration::from_secs(1));
                }
                jobs.push_back(job);
                drop(jobs);
                queue.more.notify_one();
            }

            pub(super) fn run() {
                let queue = Arc::new(Queue {
                    jobs: Mutex::default(),
                    room: Condvar::new(),
                    more: Condvar::new(),
                });
                let consumers = [(); 2].map(|()| {
                    let queue = Arc::clone(&queue);
                    thread::spawn(move || consume(&queue))
                });
                let producers: Vec<_> = (0..PRODUCERS)
                    .map(|_| {
                        let queue = Arc::clone(&queue);
                        thread::spawn(move || (1..=JOBS).for_each(|job| produce(&queue, job)))
                    })
                    .collect();
                producers.into_iter().for_each(|producer| producer.join().unwrap());
                (0..2).for_each(|_| produce(&queue, 0));
                let sum: u64 = consumers.into_iter().map(|each| each.join().unwrap()).sum();
                assert_eq!(sum, PRODUCERS * JOBS * (JOBS + 1) / 2);
                assert_eq!(FINISHED.try_lock().map(|finished| finished.0), Some(2));
            }
        }
    };
}

program!(under_parking_lot, parking_lot);

#[test]
fn the_program_is_right_under_parking_lot() {
    under_parking_lot::run();
}

/// Writes the program for each lock, and a table of them all.
macro_rules! programs {
    ($($lock:ident)*) => {
        $(program!($lock, kilocore_locks::sync::$lock);)*

        const PROGRAMS: &[(&str, fn())] = &[$((stringify!($lock), $lock::run)),*];
    };
}

programs! {
    tas ttas backoff ticket ticket_backoff partitioned alock mcs clh mcs_park clh_park mcs_tp futex
    adaptive mutexee cna c_bo_mcs c_bo_mcs_park c_tkt_tkt c_ptl_tkt hmcs ahmcs hticket malthusian
    malthusian_spin requester
}

#[test]
fn one_line_brings_the_program_under_any_lock() {
    let tried: BTreeSet<String> = PROGRAMS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let known: BTreeSet<String> =
        LockId::ALL.iter().map(|lock| lock.name().replace('-', "_")).collect();
    assert_eq!(tried, known);
    for (name, run) in PROGRAMS {
        let start = Instant::now();
        run();
        eprintln!("{name}: {:.1?}", start.elapsed());
    }
}

#[test]
fn a_guard_may_be_dropped_by_another_thread() {
    use kilocore_locks::sync::clh::Mutex;
    let mutex = Mutex::new(0);
    for _ in 0..20 {
        let mut guard = mutex.lock();
        thread::scope(|scope| {
            scope.spawn(move || *guard += 1);
        });
    }
    assert_eq!(mutex.into_inner(), 20);
}

/// A thread's last words: a destructor that uses a lock.
struct LastWords(Arc<sync::clh::Mutex<u32>>);

impl Drop for LastWords {
    fn drop(&mut self) {
        *self.0.lock() += 1;
    }
}

#[test]
fn a_destructor_uses_a_lock_when_the_thread_has_dropped_its_state() {
    thread_local! {
        static WORDS: RefCell<Option<LastWords>> = const { RefCell::new(None) };
    }
    let mutex = Arc::new(sync::clh::Mutex::new(0));
    let thread = {
        let mutex = Arc::clone(&mutex);
        thread::spawn(move || {
            // Destructors run in the reverse order of the first uses. So the lock's state, which is
            // used next, is dropped before the words are said.
            WORDS.set(Some(LastWords(Arc::clone(&mutex))));
            *mutex.lock() += 1;
        })
    };
    thread.join().unwrap();
    assert_eq!(*mutex.lock(), 2);
}

/// As when the allocator uses a lock, which another lock calls for a node.
#[test]
fn a_lock_is_used_while_the_state_of_the_thread_is() {
    type Lock = Clh<Native>;
    let outer = Lock::new();
    let inner = RawMutex::<Lock>::INIT;
    Lock::with_thread(|thread| {
        outer.acquire(thread);
        let guard = inner.lock();
        assert!(inner.try_lock().is_none());
        // SAFETY: both were acquired above.
        unsafe {
            inner.unlock(guard);
            outer.release(thread);
        }
    });
    assert!(!inner.is_locked());
}

#[test]
fn a_wait_with_a_deadline_ends_in_time_or_with_the_lock() {
    use kilocore_locks::sync::{mcs::Mutex, rwsem::RwLock};
    let short = Duration::from_millis(5);
    let (mutex, pair) = (Mutex::new(()), RwLock::new(()));
    let (held, read) = (mutex.lock(), pair.read());
    let start = Instant::now();
    assert!(mutex.try_lock_for(short).is_none());
    assert!(pair.try_write_for(short).is_none());
    assert!(pair.try_read_for(short).is_some());
    assert!(mutex.try_lock_until(start).is_none());
    assert!(start.elapsed() >= 2 * short);
    assert!(mutex.is_locked() && pair.is_locked() && !pair.is_locked_exclusive());
    thread::scope(|scope| {
        // No time-out that the clock can tell, so these end with the lock only.
        scope.spawn(|| mutex.try_lock_for(Duration::MAX).unwrap());
        scope.spawn(|| pair.try_write_for(Duration::MAX).unwrap());
        thread::sleep(short);
        drop((held, read));
    });
    assert!(!mutex.is_locked() && !pair.is_locked());
}

#[test]
fn readers_are_inside_together_and_a_writer_turns_into_one_of_them() {
    use kilocore_locks::sync::{
        bravo_central, bravo_phase_fair, bravo_writer_first, central_rw, per_core, phase_fair,
        rwsem, writer_first,
    };
    macro_rules! together {
        ($path:ident) => {{
            use $path::{RwLock, RwLockWriteGuard};
            let lock = RwLock::new(1);
            let (both, later) = (Barrier::new(2), Barrier::new(2));
            thread::scope(|scope| {
                scope.spawn(|| {
                    let seen = lock.read();
                    both.wait();
                    assert_eq!(*seen, 1);
                    drop(seen);
                    later.wait();
                    assert!(lock.try_read().is_none());
                    later.wait();
                    later.wait();
                    assert_eq!(*lock.read(), 2);
                    later.wait();
                });
                let seen = lock.read();
                // Both are inside, or this waits for ever.
                both.wait();
                assert!(lock.try_write().is_none());
                drop(seen);
                let mut all = lock.write();
                *all += 1;
                later.wait();
                assert!(lock.is_locked_exclusive());
                later.wait();
                let part = RwLockWriteGuard::downgrade(all);
                later.wait();
                // The other reads beside this one.
                later.wait();
                assert_eq!(*part, 2);
            });
            assert_eq!(lock.into_inner(), 2);
        }};
    }
    together!(central_rw);
    together!(rwsem);
    together!(writer_first);
    together!(phase_fair);
    together!(bravo_central);
    together!(bravo_writer_first);
    together!(bravo_phase_fair);
    together!(per_core);
}

/// Threads that wait for short times, while another notifies: each notification that says so has
/// woken one, and no wait ends for any other reason.
#[test]
fn a_condition_counts_whom_it_woke() {
    use kilocore_locks::sync::mcs_park::{Condvar, Mutex};
    const WAITS: u32 = 400;
    const WAITERS: usize = 3;
    let (mutex, condition) = (Mutex::new(()), Condvar::new());
    let (woken, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    assert!(!condition.notify_one());
    assert_eq!(condition.notify_all(), 0);
    let told = thread::scope(|scope| {
        for number in 0..WAITERS as u64 {
            let (mutex, condition, woken, ended) = (&mutex, &condition, &woken, &ended);
            scope.spawn(move || {
                for wait in 0..u64::from(WAITS) {
                    let time = Duration::from_micros((wait * 7 + number) % 40);
                    if !condition.wait_for(&mut mutex.lock(), time).timed_out() {
                        woken.fetch_add(1, Ordering::Relaxed);
                    }
                }
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        let mut told = 0;
        while ended.load(Ordering::Relaxed) < WAITERS {
            told += usize::from(condition.notify_one());
            told += condition.notify_all();
            thread::yield_now();
        }
        told
    });
    assert_eq!(woken.load(Ordering::Relaxed), told);
}

#[test]
fn a_condition_wakes_in_the_order_of_arrival() {
    use kilocore_locks::sync::mcs_park::{Condvar, Mutex};
    const WAITERS: usize = 5;
    let (order, condition) = (Mutex::new(Vec::new()), Condvar::new());
    thread::scope(|scope| {
        let (order, condition) = (&order, &condition);
        for number in 0..WAITERS {
            let asleep = Arc::new(Barrier::new(2));
            let told = Arc::clone(&asleep);
            scope.spawn(move || {
                let mut order = order.lock();
                told.wait();
                condition.wait(&mut order);
                order.push(number);
            });
            // It holds the mutex now, and gives it up only when it is enlisted.
            asleep.wait();
            drop(order.lock());
        }
        for woken in 1..=WAITERS {
            assert!(condition.notify_one());
            while order.lock().len() < woken {
                thread::yield_now();
            }
        }
    });
    assert_eq!(order.into_inner(), [0, 1, 2, 3, 4]);
}
