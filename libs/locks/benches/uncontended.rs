//! What taking and releasing a lock costs natively when nobody waits, and with two threads that
//! do: every lock here beside `parking_lot`, `std`, `spin`, and twins of the ticket lock and the
//! futex mutex written by hand on `core::sync::atomic`, which show what the platform layer adds.
//! Three locks are there once more as the mutexes that users get, with what they need of a thread
//! kept by the thread. Reading and writing under every read-write lock is compared with glibc's.
//!
//! Rounds are interleaved: each round measures every lock once, so that a host that slows down
//! for a while slows all of them. Printed are medians over the rounds with their quartiles, and
//! the median of the ratios to the first lock of the table within a round. The figures for two threads need
//! two idle cores: on a busy host the threads run one after the other and do not contend. Run it
//! with `cargo bench -p kilocore-locks --bench uncontended`.

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use kilocore_locks::sync::lock_api::{self, RawMutex as _};
use kilocore_locks::sync::{self, RawMutex};
use kilocore_locks::{KeepsThread, LockId, LockVisitor, RawLock};
use kilocore_locks::{RawRwLock, RwLockId, RwLockVisitor, Rwsem};
use kilocore_platform::Native;

/// Rounds; each gives one figure per lock.
const ROUNDS: usize = 31;
/// Acquisitions per figure when nobody else is there.
const UNCONTENDED: u32 = 200_000;
/// Acquisitions per thread and figure with two threads.
const CONTENDED: u32 = 50_000;

/// Whatever can be taken and released. Not one of the libraries' own traits: the library's
/// mutexes are used as their users use them.
trait Subject: Sync {
    type Thread: Default;
    fn section(&self, thread: &mut Self::Thread);
}

struct Ours<L>(L);

impl<L: RawLock<Native>> Subject for Ours<L> {
    type Thread = L::Thread;
    #[inline(always)]
    fn section(&self, thread: &mut L::Thread) {
        self.0.acquire(thread);
        black_box(());
        // SAFETY: acquired just above.
        unsafe { self.0.release(thread) };
    }
}

impl<L: KeepsThread> Subject for lock_api::Mutex<RawMutex<L>, ()> {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        let _guard = black_box(self.lock());
    }
}

struct ParkingLot(parking_lot::RawMutex);

impl Subject for ParkingLot {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        let guard = self.0.lock();
        black_box(());
        // SAFETY: locked just above, with that guard.
        unsafe { self.0.unlock(guard) };
    }
}

impl Subject for std::sync::Mutex<()> {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        let _guard = black_box(self.lock());
    }
}

impl Subject for spin::Mutex<()> {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        let _guard = black_box(self.lock());
    }
}

/// Reads under a read-write lock.
struct Reads<L>(L);

impl<L: RawRwLock<Native>> Subject for Reads<L> {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        let reader = self.0.acquire_shared();
        black_box(());
        // SAFETY: acquired just above.
        unsafe { self.0.release_shared(reader) };
    }
}

/// Writes under a read-write lock.
struct Writes<L>(L);

impl<L: RawRwLock<Native>> Subject for Writes<L> {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        self.0.acquire();
        black_box(());
        // SAFETY: acquired just above.
        unsafe { self.0.release() };
    }
}

/// glibc's read-write lock, in its default kind.
struct Glibc {
    lock: UnsafeCell<libc::pthread_rwlock_t>,
    writes: bool,
}

// SAFETY: the lock is for any thread.
unsafe impl Sync for Glibc {}

impl Glibc {
    fn new(writes: bool) -> Self {
        Self { lock: UnsafeCell::new(libc::PTHREAD_RWLOCK_INITIALIZER), writes }
    }
}

impl Subject for Glibc {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        let lock = self.lock.get();
        // SAFETY: it is initialized, and was acquired when it is released.
        unsafe {
            if self.writes {
                libc::pthread_rwlock_wrlock(lock);
            } else {
                libc::pthread_rwlock_rdlock(lock);
            }
            black_box(());
            libc::pthread_rwlock_unlock(lock);
        }
    }
}

/// The ticket lock without the platform.
#[derive(Default)]
struct TicketTwin {
    next: AtomicU32,
    serving: AtomicU32,
}

impl Subject for TicketTwin {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serving.load(Ordering::Acquire) != mine {
            std::hint::spin_loop();
        }
        black_box(());
        let mine = self.serving.load(Ordering::Relaxed);
        self.serving.store(mine.wrapping_add(1), Ordering::Release);
    }
}

/// The futex mutex without the platform.
#[derive(Default)]
struct FutexTwin(AtomicU32);

impl FutexTwin {
    fn call(&self, operation: i32, value: u32) {
        // SAFETY: the word is live; neither operation used here writes to it.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                operation | libc::FUTEX_PRIVATE_FLAG,
                value,
                std::ptr::null::<libc::timespec>(),
            );
        }
    }

    #[cold]
    fn sleep(&self) {
        if self.0.load(Ordering::Relaxed) == 2 {
            self.call(libc::FUTEX_WAIT, 2);
        }
        while self.0.swap(2, Ordering::Acquire) != 0 {
            self.call(libc::FUTEX_WAIT, 2);
        }
    }

    #[cold]
    fn wake(&self) {
        self.call(libc::FUTEX_WAKE, 1);
    }
}

impl Subject for FutexTwin {
    type Thread = ();
    #[inline(always)]
    fn section(&self, (): &mut ()) {
        if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.sleep();
        }
        black_box(());
        if self.0.swap(0, Ordering::Release) == 2 {
            self.wake();
        }
    }
}

/// Nanoseconds per section, alone.
#[inline(never)]
fn alone<S: Subject>(subject: &S) -> f64 {
    let mut thread = S::Thread::default();
    subject.section(&mut thread);
    let start = Instant::now();
    for _ in 0..UNCONTENDED {
        black_box(subject).section(&mut thread);
    }
    start.elapsed().as_nanos() as f64 / f64::from(UNCONTENDED)
}

/// Nanoseconds per section of either of two threads that want nothing else.
#[inline(never)]
fn in_twos<S: Subject>(subject: &S) -> f64 {
    let barrier = Barrier::new(2);
    let push = || {
        let mut thread = S::Thread::default();
        barrier.wait();
        let start = Instant::now();
        for _ in 0..CONTENDED {
            black_box(subject).section(&mut thread);
        }
        start.elapsed().as_nanos() as f64
    };
    let longer = std::thread::scope(|scope| {
        let other = scope.spawn(push);
        let mine = push();
        mine.max(other.join().expect("the other thread does not panic"))
    });
    longer / f64::from(2 * CONTENDED)
}

struct Measured {
    name: String,
    alone: Vec<f64>,
    in_twos: Vec<f64>,
}

type Measure = Box<dyn Fn() -> (f64, f64)>;

fn measure<S: Subject + 'static>(subject: S) -> Measure {
    Box::new(move || (alone(&subject), in_twos(&subject)))
}

struct Boxed;

impl LockVisitor<Native> for Boxed {
    type Output = Measure;
    fn visit<L: RawLock<Native>>(self) -> Measure {
        measure(Ours(L::new()))
    }
}

/// Makes subjects of a read-write lock.
struct BoxedRw {
    writes: bool,
}

impl RwLockVisitor<Native> for BoxedRw {
    type Output = Measure;
    fn visit<L: RawRwLock<Native>>(self) -> Measure {
        if self.writes { measure(Writes(L::new())) } else { measure(Reads(L::new())) }
    }
}

type Subjects = Vec<(String, Measure)>;

fn mutexes() -> Subjects {
    let mut subjects: Subjects = vec![
        ("parking_lot".into(), measure(ParkingLot(parking_lot::RawMutex::INIT))),
        ("std".into(), measure(std::sync::Mutex::new(()))),
        ("spin".into(), measure(spin::Mutex::new(()))),
        ("ticket by hand".into(), measure(TicketTwin::default())),
        ("futex by hand".into(), measure(FutexTwin::default())),
    ];
    subjects.push(("mutex of mcs".into(), measure(sync::mcs::Mutex::new(()))));
    subjects.push(("mutex of clh".into(), measure(sync::clh::Mutex::new(()))));
    subjects.push(("mutex of cna".into(), measure(sync::cna::Mutex::new(()))));
    subjects.extend(LockId::ALL.iter().map(|lock| (lock.to_string(), lock.visit(Boxed))));
    subjects
}

fn rw_locks(writes: bool) -> Subjects {
    let mut subjects: Subjects = vec![("glibc".into(), measure(Glibc::new(writes)))];
    let ours = RwLockId::ALL.iter();
    subjects.extend(ours.map(|lock| (lock.to_string(), lock.visit(BoxedRw { writes }))));
    subjects.push(("rwsem".into(), BoxedRw { writes }.visit::<Rwsem<Native>>()));
    subjects
}

/// The quartiles of `figures`: lower, median, upper.
fn quartiles(figures: &[f64]) -> [f64; 3] {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
}

/// The median over the rounds of the ratio to the reference in the same round.
fn ratio(figures: &[f64], reference: &[f64]) -> f64 {
    let ratios: Vec<_> = figures.iter().zip(reference).map(|(a, b)| a / b).collect();
    quartiles(&ratios)[1]
}

/// Measures all subjects, round after round, and prints a table.
fn compare(title: &str, subjects: &Subjects, rounds: usize) {
    let mut measured: Vec<_> = subjects
        .iter()
        .map(|(name, _)| Measured { name: name.clone(), alone: vec![], in_twos: vec![] })
        .collect();
    for _ in 0..rounds {
        for ((_, measure), measured) in subjects.iter().zip(&mut measured) {
            let (alone, in_twos) = measure();
            measured.alone.push(alone);
            measured.in_twos.push(in_twos);
        }
    }
    let reference = &measured[0];
    println!("{title}: nanoseconds, median [quartiles], ratio to {}", reference.name);
    println!("{:<20}{:^32}{:^36}", "", "one thread", "two threads");
    for lock in &measured {
        let [low, median, high] = quartiles(&lock.alone);
        let [low2, median2, high2] = quartiles(&lock.in_twos);
        println!(
            "{:<20}{median:>8.2} [{low:>6.2} {high:>6.2}]  {:>5.2} {median2:>10.1} \
             [{low2:>8.1} {high2:>8.1}]  {:>5.2}",
            lock.name,
            ratio(&lock.alone, &reference.alone),
            ratio(&lock.in_twos, &reference.in_twos),
        );
    }
}

fn main() {
    // Cargo tests benchmarks too, in debug builds: one round then, to see that it runs.
    let rounds = if std::env::args().any(|arg| arg == "--bench") { ROUNDS } else { 1 };
    compare("acquire and release", &mutexes(), rounds);
    compare("acquire shared and release", &rw_locks(false), rounds);
    compare("acquire a read-write lock alone and release", &rw_locks(true), rounds);
}
