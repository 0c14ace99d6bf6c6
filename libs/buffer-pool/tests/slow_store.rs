//! A store that takes as long as the test wants: who waits for it, and who does not.
//!
//! What must go on while the store is blocked, the test's own thread does. If it did not go on, the call that is
//! blocked would fail after a while, and with it the test.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Barrier, Condvar, Mutex, MutexGuard};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId, PoolError, Store, WhenPinned};

const PAGE: usize = 64;
const DEADLINE: Duration = Duration::from_secs(60);

/// What a store does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Call {
    Read(PageId),
    Write(PageId),
    Sync,
}

use Call::{Read, Sync, Write};

/// A disk with a gate before each call, which the test closes and opens.
#[derive(Default)]
struct SlowStore {
    disk: FaultyDisk,
    calls: Mutex<Calls>,
    changed: Condvar,
}

#[derive(Default)]
struct Calls {
    /// The calls whose gates are closed, which wait until the test opens these.
    closed: BTreeSet<Call>,
    /// All that have come to their gates.
    begun: Vec<Call>,
    /// All that have returned.
    ended: Vec<Call>,
}

impl SlowStore {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().expect("nobody panics with it")
    }

    fn close(&self, calls: impl IntoIterator<Item = Call>) {
        self.calls().closed.extend(calls);
    }

    /// Opens all gates but this one.
    fn open_all_but(&self, closed: Option<Call>) {
        self.calls().closed.retain(|call| Some(*call) == closed);
        self.changed.notify_all();
    }

    /// Waits until a call stands before a closed gate, and returns it.
    fn blocked(&self) -> Call {
        let is_blocked =
            |calls: &Calls| calls.begun.iter().copied().find(|call| calls.closed.contains(call));
        let (calls, _) = self.wait_while(|calls| is_blocked(calls).is_none());
        is_blocked(&calls).expect("something has to be blocked by now")
    }

    /// Waits while this holds, or until it has taken too long. Returns whether it has not.
    fn wait_while(&self, holds: impl Fn(&Calls) -> bool) -> (MutexGuard<'_, Calls>, bool) {
        let waiting = self.changed.wait_timeout_while(self.calls(), DEADLINE, |calls| holds(calls));
        let (calls, result) = waiting.expect("nobody panics with it");
        (calls, !result.timed_out())
    }

    fn slowly(
        &self,
        call: Call,
        act: impl FnOnce(&FaultyDisk) -> io::Result<()>,
    ) -> io::Result<()> {
        self.calls().begun.push(call);
        self.changed.notify_all();
        let (calls, in_time) = self.wait_while(|calls| calls.closed.contains(&call));
        drop(calls);
        if !in_time {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody has opened the gate"));
        }
        act(&self.disk)?;
        self.calls().ended.push(call);
        Ok(())
    }

    fn begun(&self, call: Call) -> usize {
        self.calls().begun.iter().filter(|begun| **begun == call).count()
    }

    /// Returns how many writes have begun, of any page.
    fn writes(&self) -> usize {
        self.calls().begun.iter().filter(|call| matches!(call, Write(_))).count()
    }
}

impl Store for SlowStore {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        self.slowly(Read(page), |disk| disk.read(page, into))
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        self.slowly(Write(page), |disk| disk.write(page, from))
    }

    fn sync(&self) -> io::Result<()> {
        self.slowly(Sync, FaultyDisk::sync)
    }
}

type Pool = BufferPool<SlowStore>;

fn pool(capacity: u32, when_pinned: WhenPinned) -> Pool {
    let options = Options { when_pinned, ..Options::new(capacity, PAGE) };
    BufferPool::new(SlowStore::default(), options).expect("they are in range")
}

fn get(pool: &Pool, page: u64) -> u8 {
    pool.read(PageId(page)).expect("there is room")[0]
}

fn set(pool: &Pool, page: u64, value: u8) {
    pool.write(PageId(page)).expect("there is room").fill(value);
}

/// Reads more pages that are not in memory than there are frames.
fn miss_often(pool: &Pool, first: u64) {
    for page in first..first + 20 {
        assert_eq!(get(pool, page), 0);
    }
}

/// Has a thread write a page back, and returns when the store is blocked in that.
fn begin_to_write<'scope>(
    scope: &'scope Scope<'scope, '_>,
    pool: &'scope Pool,
    page: PageId,
) -> ScopedJoinHandle<'scope, bool> {
    pool.store().close([Write(page)]);
    let writing = scope.spawn(move || pool.write_back(page).expect("the disk works"));
    assert_eq!(pool.store().blocked(), Write(page));
    writing
}

#[test]
fn while_a_page_is_read_only_those_wait_who_need_it() {
    const READERS: usize = 3;
    let pool = pool(4, WhenPinned::Fail);
    let slow = PageId(1);
    pool.store().disk.write(slow, &[5; PAGE]).expect("the disk works");
    set(&pool, 2, 2);
    pool.store().close([Read(slow)]);
    let started = Barrier::new(READERS + 1);
    let read = || pool.read(slow).expect("there is room").to_vec();
    std::thread::scope(|scope| {
        let first = scope.spawn(read);
        assert_eq!(pool.store().blocked(), Read(slow));
        let others = [(); READERS].map(|()| {
            scope.spawn(|| {
                started.wait();
                read()
            })
        });
        started.wait();

        assert_eq!(get(&pool, 2), 2);
        set(&pool, 2, 3);
        miss_often(&pool, 10);
        pool.sync().expect("the disk works");
        assert_eq!(get(&pool, 2), 3);
        assert!(!first.is_finished() && !others.iter().any(|other| other.is_finished()));

        pool.store().open_all_but(None);
        for reader in others.into_iter().chain([first]) {
            assert_eq!(reader.join().expect("it does not panic"), [5; PAGE]);
        }
    });
    assert_eq!(pool.store().begun(Read(slow)), 1);
}

#[test]
fn while_a_page_is_written_only_a_sync_waits() {
    let pool = pool(4, WhenPinned::Fail);
    let slow = PageId(1);
    set(&pool, 1, 1);
    assert_eq!(get(&pool, 2), 0);
    let started = Barrier::new(2);
    std::thread::scope(|scope| {
        let writing = begin_to_write(scope, &pool, slow);

        assert_eq!((get(&pool, 1), get(&pool, 2)), (1, 0));
        miss_often(&pool, 10);
        // It is written from a copy, so not even those who change it wait.
        set(&pool, 1, 2);
        let syncing = scope.spawn(|| {
            started.wait();
            pool.sync().expect("the disk works");
        });
        started.wait();
        miss_often(&pool, 30);
        assert_eq!(get(&pool, 1), 2);
        assert_eq!(pool.store().begun(Write(slow)), 1, "no page is written twice at a time");
        assert_eq!(pool.store().begun(Read(slow)), 1, "the page has not left memory");
        assert!(!writing.is_finished() && !syncing.is_finished());

        pool.store().open_all_but(None);
        assert!(writing.join().expect("it does not panic"));
        syncing.join().expect("it does not panic");
    });
    let mut changes = pool.store().calls().ended.clone();
    changes.retain(|call| !matches!(call, Read(_)));
    assert_eq!(changes, [Write(slow), Write(slow), Sync]);
    let disk = pool.into_store().disk.after_power_failure(&mut |_| 0);
    let mut page = [0; PAGE];
    disk.read(slow, &mut page).expect("the power is back");
    assert_eq!(page, [2; PAGE]);
}

#[test]
fn while_a_page_that_has_to_go_is_written_others_go() {
    let pool = pool(4, WhenPinned::Fail);
    for page in 1..=4 {
        set(&pool, page, page as u8);
    }
    pool.store().close((1..=4).map(|page| Write(PageId(page))));
    std::thread::scope(|scope| {
        let evicting = scope.spawn(|| get(&pool, 10));
        // Which page has to go is the lists' matter.
        let Write(slow) = pool.store().blocked() else { panic!("no page has to be read") };
        pool.store().open_all_but(Some(Write(slow)));

        for page in 1..=4 {
            assert_eq!(get(&pool, page), page as u8);
            if PageId(page) != slow {
                pool.write_back(PageId(page)).expect("the disk works");
            }
        }
        miss_often(&pool, 20);
        assert_eq!(pool.store().writes(), 4, "only clean pages had to go");
        assert_eq!(pool.store().begun(Read(slow)), 1, "the page has not left memory");
        assert_eq!(get(&pool, slow.0), slow.0 as u8);
        assert!(!evicting.is_finished());

        pool.store().open_all_but(None);
        assert_eq!(evicting.join().expect("it does not panic"), 0);
    });
    miss_often(&pool, 40);
    for page in 1..=4 {
        assert_eq!(get(&pool, page), page as u8);
    }
}

/// Who asks for a page may have the latch that a write waits for.
#[test]
fn if_the_only_page_that_can_go_is_pinned_and_to_be_written_that_is_an_error_at_once() {
    let pool = pool(1, WhenPinned::Fail);
    set(&pool, 1, 1);
    std::thread::scope(|scope| {
        let guard = pool.write(PageId(1)).expect("it is there");
        let writing = scope.spawn(|| pool.write_back(PageId(1)).expect("the disk works"));
        for _ in 0..1_000 {
            assert!(matches!(pool.read(PageId(2)), Err(PoolError::AllPinned)));
            std::thread::yield_now();
        }
        assert!(!writing.is_finished());
        drop(guard);
        assert!(writing.join().expect("it does not panic"));
    });
    assert_eq!((get(&pool, 2), get(&pool, 1)), (0, 1));
}

/// The page is in use by the pool itself, and nobody has to drop a guard. So that is no error either.
#[test]
fn who_needs_the_frame_of_a_page_that_is_written_gets_it_afterwards() {
    for when_pinned in [WhenPinned::Wait, WhenPinned::Fail] {
        let pool = pool(1, when_pinned);
        let slow = PageId(1);
        set(&pool, 1, 1);
        std::thread::scope(|scope| {
            let writing = begin_to_write(scope, &pool, slow);
            let waiting = scope.spawn(|| get(&pool, 2));
            let deadline = Instant::now() + DEADLINE;
            while pool.statistics().waits == 0 && Instant::now() < deadline {
                std::thread::yield_now();
            }
            assert!(pool.contains(slow) && !waiting.is_finished());
            pool.store().open_all_but(None);
            assert!(writing.join().expect("it does not panic"));
            assert_eq!(waiting.join().expect("it does not panic"), 0);
        });
        assert_eq!(get(&pool, 1), 1);
    }
}

/// While a page is written, somebody may pin it. Who waits for its frame then waits for a guard, and is told.
#[test]
fn who_waits_for_a_page_that_is_written_is_told_if_it_is_pinned_meanwhile() {
    let pool = pool(1, WhenPinned::Fail);
    set(&pool, 1, 1);
    std::thread::scope(|scope| {
        let writing = begin_to_write(scope, &pool, PageId(1));
        let waiting = scope.spawn(|| pool.read(PageId(2)).map(drop));
        let deadline = Instant::now() + DEADLINE;
        while pool.statistics().waits == 0 && Instant::now() < deadline {
            std::thread::yield_now();
        }
        let pin = pool.pin(PageId(1)).expect("it is there");
        pool.store().open_all_but(None);
        assert!(writing.join().expect("it does not panic"));
        let told = waiting.join().expect("it does not panic");
        assert!(matches!(told, Err(PoolError::AllPinned)), "{told:?}");
        drop(pin);
    });
}
