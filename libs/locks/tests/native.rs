//! Every lock on the real machine: many more threads than cores, threads that come and go,
//! waiters that a fork left behind, and the layout that living in foreign memory needs.

use crate::common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::programs::{self, Guarded};
use kilocore_locks::{LockId, LockVisitor, RawLock};
use kilocore_locks::{NoSharing, RawRwLock, RwLockId, RwLockVisitor, Rwsem, Ticket};
use kilocore_platform::{Native, Platform};

/// Threads in a crowd: more than this host has cores.
const CROWD: u32 = 8;
/// How long a crowd pushes on one lock.
const PUSHING: Duration = Duration::from_millis(60);
/// Generations of short-lived threads.
const GENERATIONS: usize = 100;

fn for_every_lock<V: LockVisitor<Native, Output = ()>>(visitor: impl Fn() -> V) {
    for &lock in LockId::ALL {
        let start = Instant::now();
        lock.visit(visitor());
        eprintln!("{lock}: {:.1?}", start.elapsed());
    }
}

/// A crowd increments until its time is up; then the count is compared with what each says.
struct Crowd;

impl LockVisitor<Native> for Crowd {
    type Output = ();

    fn visit<L: RawLock<Native>>(self) {
        let shared = Guarded::<Native, L>::new();
        let end = Instant::now() + PUSHING;
        let crowd: Vec<_> = (0..CROWD)
            .map(|index| {
                let shared = shared.clone();
                std::thread::spawn(move || push_until(end, index, &shared))
            })
            .collect();
        let said: u64 = crowd.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(shared.total(), said);
        assert!(said > 0);
    }
}

/// Increments at least once, some of it by trying, and says how often.
fn push_until<L: RawLock<Native>>(end: Instant, index: u32, shared: &Guarded<Native, L>) -> u64 {
    let mut thread = L::Thread::default();
    let mut count = 0;
    loop {
        let by_trying = (count + u64::from(index)).is_multiple_of(4);
        if !by_trying || !shared.lock.try_acquire(&mut thread) {
            shared.lock.acquire(&mut thread);
        }
        shared.increment();
        // SAFETY: acquired above.
        unsafe { shared.lock.release(&mut thread) };
        count += 1;
        if Instant::now() >= end {
            return count;
        }
        Native::pause(1);
    }
}

#[test]
fn a_crowd_excludes_each_other() {
    for_every_lock(|| Crowd);
}

/// Pairs of threads that live for one acquisition; each releases what its partner acquired
/// where that partner is already gone.
struct ComeAndGo;

impl LockVisitor<Native> for ComeAndGo {
    type Output = ();

    fn visit<L: RawLock<Native>>(self) {
        let shared = Guarded::<Native, L>::new();
        for _ in 0..GENERATIONS {
            let acquirer = {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    shared.lock.acquire(&mut L::Thread::default());
                    shared.increment();
                })
            };
            acquirer.join().unwrap();
            let releaser = {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    // SAFETY: the acquirer holds it, and has ended without releasing it.
                    unsafe { shared.lock.release(&mut L::Thread::default()) };
                })
            };
            let mut thread = L::Thread::default();
            shared.lock.acquire(&mut thread);
            shared.increment();
            // SAFETY: acquired above.
            unsafe { shared.lock.release(&mut thread) };
            releaser.join().unwrap();
        }
        assert_eq!(shared.total(), 2 * GENERATIONS as u64);
    }
}

#[test]
fn threads_come_and_go() {
    for_every_lock(|| ComeAndGo);
}

/// A lock that is held is copied, waiters and all, at a moment at which threads wait for it, as
/// `fork` copies it. The copy, whose waiters do not exist, must be usable.
struct Forked;

impl LockVisitor<Native> for Forked {
    type Output = ();

    fn visit<L: RawLock<Native>>(self) {
        let shared = Guarded::<Native, L>::new();
        let mut holder = L::Thread::default();
        shared.lock.acquire(&mut holder);
        let arrived = Arc::new(AtomicU32::new(0));
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let (shared, arrived) = (shared.clone(), arrived.clone());
                std::thread::spawn(move || {
                    let mut thread = L::Thread::default();
                    arrived.fetch_add(1, Ordering::Relaxed);
                    shared.lock.acquire(&mut thread);
                    shared.increment();
                    // SAFETY: acquired above.
                    unsafe { shared.lock.release(&mut thread) };
                })
            })
            .collect();
        while arrived.load(Ordering::Relaxed) < 3 {
            std::thread::yield_now();
        }
        // They have arrived at the lock; this lets them get into its queue and to sleep. It is
        // no matter of right or wrong: fewer recorded waiters make the test weaker, not fail.
        std::thread::sleep(Duration::from_millis(2));
        let child = fork(|| programs::forgotten::<Native, L>(&shared.lock));
        // SAFETY: acquired above, and the child has a copy of its own.
        unsafe { shared.lock.release(&mut holder) };
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        assert_eq!(shared.total(), 3);
        assert_eq!(child.wait(), 0, "the child of a fork could not use the lock");
    }
}

/// A process that was forked, which the parent has to wait for.
struct Child(libc::pid_t);

/// Runs `child` in a fork, whose exit status is 0 if it returned.
fn fork(child: impl FnOnce()) -> Child {
    // SAFETY: the child does nothing with other threads' locks but the one under test; the
    // allocator that it may use is made safe for forks by the C library.
    match unsafe { libc::fork() } {
        0 => {
            let status = i32::from(common::verdict(child).is_err());
            // SAFETY: ends the child at once, without running this process's exit handlers.
            unsafe { libc::_exit(status) }
        }
        pid => {
            assert!(pid > 0, "fork failed");
            Child(pid)
        }
    }
}

impl Child {
    /// Its wait status; a child that hangs is killed by the alarm that it inherits none of, so
    /// the wait is bounded here.
    fn wait(self) -> i32 {
        let end = Instant::now() + Duration::from_secs(10);
        let mut status = 0;
        loop {
            // SAFETY: `status` is ours to write and the child is ours to wait for.
            let ended = unsafe { libc::waitpid(self.0, &mut status, libc::WNOHANG) };
            if ended == self.0 {
                return status;
            }
            if Instant::now() > end {
                // SAFETY: the child is ours and has not been waited for.
                unsafe { libc::kill(self.0, libc::SIGKILL) };
                panic!("the child of a fork hangs on the lock");
            }
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_forked_child_forgets_the_waiters() {
    for_every_lock(|| Forked);
}

/// The same for read-write locks: a writer forks while others wait to read and to write.
struct ForkedByAWriter;

impl RwLockVisitor<Native> for ForkedByAWriter {
    type Output = ();

    fn visit<L: RawRwLock<Native>>(self) {
        let lock = L::new();
        let arrived = AtomicU32::new(0);
        lock.acquire();
        thread::scope(|scope| {
            for number in 0..4 {
                let (lock, arrived) = (&lock, &arrived);
                scope.spawn(move || {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    // SAFETY: acquired by this thread, here and below.
                    unsafe {
                        if number % 2 == 0 {
                            lock.acquire();
                            lock.release();
                        } else {
                            lock.release_shared(lock.acquire_shared());
                        }
                    }
                });
            }
            while arrived.load(Ordering::Relaxed) < 4 {
                thread::yield_now();
            }
            // As above, this makes the test stronger and is no matter of right or wrong.
            thread::sleep(Duration::from_millis(2));
            let child = fork(|| forgotten_by_a_writer(&lock));
            // SAFETY: acquired above, and the child has a copy of its own.
            unsafe { lock.release() };
            assert_eq!(child.wait(), 0, "the child of a fork could not use the lock");
        });
    }
}

/// The writer that is inside forgets all others, after which the lock is as good as new.
fn forgotten_by_a_writer<L: RawRwLock<Native>>(lock: &L) {
    // SAFETY: the caller's thread is inside as the writer, and is the only one left.
    unsafe {
        lock.forget_others();
        lock.release();
    }
    for _ in 0..3 {
        lock.acquire();
        assert!(lock.try_acquire_shared().is_none(), "a reader's try succeeded beside a writer");
        // SAFETY: acquired above.
        let reader = unsafe { lock.downgrade() };
        assert!(!lock.try_acquire(), "a try succeeded beside a reader");
        if let Some(another) = lock.try_acquire_shared() {
            // SAFETY: acquired above, here and below.
            unsafe { lock.release_shared(another) };
        }
        // SAFETY: as above.
        unsafe { lock.release_shared(reader) };
        let reader = lock.acquire_shared();
        // SAFETY: as above.
        unsafe { lock.release_shared(reader) };
        assert!(lock.try_acquire(), "a try failed on a free lock");
        // SAFETY: acquired above.
        unsafe { lock.release() };
    }
}

#[test]
fn a_forked_child_forgets_readers_and_writers() {
    for &lock in RwLockId::ALL {
        lock.visit(ForkedByAWriter);
    }
    ForkedByAWriter.visit::<Rwsem<Native>>();
    ForkedByAWriter.visit::<NoSharing<Native, Ticket<Native>>>();
}

/// Reads and leaves, so that a lock with a bias to readers gets it.
fn read_some<L: RawRwLock<Native>>(lock: &L) {
    for _ in 0..10 {
        let reader = lock.acquire_shared();
        // SAFETY: acquired above.
        unsafe { lock.release_shared(reader) };
    }
}

/// Readers never leave a lock, as if their guards were forgotten, and the lock's life ends. What they
/// left in tables outside of it must not hold up the next lock at its address.
struct Reborn;

impl RwLockVisitor<Native> for Reborn {
    type Output = ();

    fn visit<L: RawRwLock<Native>>(self) {
        let mut memory = L::new();
        for _ in 0..3 {
            read_some(&memory);
            memory.acquire_shared();
            memory.acquire_shared();
            assert!(!memory.try_acquire(), "a try succeeded beside readers");
            memory = L::new();
        }
        read_some(&memory);
        assert!(memory.try_acquire(), "readers of an earlier lock are taken for its own");
        // SAFETY: acquired above.
        unsafe { memory.release() };
    }
}

#[test]
fn a_lock_is_free_of_the_readers_of_an_earlier_one() {
    for &lock in RwLockId::ALL {
        lock.visit(Reborn);
    }
    Reborn.visit::<Rwsem<Native>>();
}

/// The child of a fork makes a lock anew that another thread of the parent reads under.
struct RebornInAChild;

impl RwLockVisitor<Native> for RebornInAChild {
    type Output = ();

    fn visit<L: RawRwLock<Native>>(self) {
        let mut lock = L::new();
        read_some(&lock);
        let reader = thread::scope(|scope| scope.spawn(|| lock.acquire_shared()).join().unwrap());
        let place = &raw mut lock;
        let child = fork(|| {
            // SAFETY: the child has a copy of its own, which nobody uses.
            let lock = unsafe {
                place.write(L::new());
                &*place
            };
            read_some(lock);
            lock.acquire();
            // SAFETY: acquired above.
            unsafe { lock.release() };
        });
        assert_eq!(child.wait(), 0, "the child of a fork could not make a new lock");
        // SAFETY: the thread that acquired it has ended.
        unsafe { lock.release_shared(reader) };
    }
}

#[test]
fn a_forked_child_makes_a_lock_anew_that_is_read_in_the_parent() {
    for &lock in RwLockId::ALL {
        lock.visit(RebornInAChild);
    }
    RebornInAChild.visit::<Rwsem<Native>>();
}

/// Sixteen bytes, aligned as a pointer at most, and free when all zero.
struct Layout;

impl LockVisitor<Native> for Layout {
    type Output = ();

    fn visit<L: RawLock<Native>>(self) {
        assert!(size_of::<L>() <= L::MAX_SIZE);
        assert!(L::MAX_SIZE <= 16);
        assert!(align_of::<L>() <= align_of::<usize>());
        // SAFETY: this is what `RawLock` promises for the native platform.
        let lock: Arc<L> = Arc::new(unsafe { std::mem::zeroed() });
        let mut thread = L::Thread::default();
        assert!(lock.try_acquire(&mut thread));
        assert!(!lock.try_acquire(&mut thread));
        // SAFETY: the first try acquired it.
        unsafe { lock.release(&mut thread) };
    }
}

#[test]
fn zeroed_memory_is_a_free_lock() {
    for_every_lock(|| Layout);
}

#[test]
fn every_name_and_alias_finds_one_lock() {
    let mut names = std::collections::HashSet::new();
    for &lock in LockId::ALL {
        for name in std::iter::once(&lock.info().name).chain(lock.info().aliases) {
            assert!(names.insert(*name), "{name} means two locks");
            assert_eq!(name.parse(), Ok(lock));
        }
    }
    assert!("no-such-lock".parse::<LockId>().is_err());
}
