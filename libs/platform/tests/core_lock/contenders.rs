//! Threads that count under locks of cores: pinned, moved all the time, and from afar.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kilocore_platform::{CpuId, Native, Padded, Platform};

/// A counter behind a lock.
struct Counter {
    word: AtomicU32,
    count: UnsafeCell<u64>,
}

// SAFETY: the count is used under the lock only.
unsafe impl Sync for Counter {}

/// How a thread acquires from afar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Afar {
    /// As the platform does.
    Right,
    /// With an exchange and a second look, but without `membarrier` in between.
    WithoutBarrier,
}

/// A counter for each core.
pub(crate) struct Counters {
    counters: Box<[Padded<Counter>]>,
    /// How often somebody has counted.
    truth: AtomicU64,
    afar: Afar,
}

fn cores() -> u32 {
    // SAFETY: sysconf only reads.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) as u32 }
}

/// Returns the cores on which this process may run.
pub(crate) fn allowed() -> Vec<usize> {
    // SAFETY: all zeros is an empty set, and the call fills it in.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
        (0..cores() as usize).filter(|&core| libc::CPU_ISSET(core, &set)).collect()
    }
}

/// Moves a thread to these cores; 0 is the calling one.
fn move_thread(thread: i32, cores: &[usize]) {
    // SAFETY: all zeros is an empty set, and the call only reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cores.iter().for_each(|&core| libc::CPU_SET(core, &mut set));
        assert_eq!(libc::sched_setaffinity(thread, size_of_val(&set), &set), 0);
    }
}

impl Counters {
    /// Returns counters for all cores, if locks of cores are cheap at home here.
    pub(crate) fn new(afar: Afar) -> Option<Self> {
        if !Native::has_cheap_homes(cores()) {
            return None;
        }
        let counter = |_| Padded(Counter { word: AtomicU32::new(0), count: UnsafeCell::new(0) });
        let counters = (0..cores()).map(counter).collect();
        Some(Self { counters, truth: AtomicU64::new(0), afar })
    }

    /// Returns for how many cores there are counters.
    pub(crate) fn cores(&self) -> usize {
        self.counters.len()
    }

    /// Counts under a lock that the caller holds, and releases it. It reads and writes with a pause in
    /// between, so that a second holder would spoil the count.
    fn count(&self, counter: &Counter) {
        // SAFETY: the lock is held.
        unsafe {
            let before = counter.count.get().read_volatile();
            std::hint::spin_loop();
            counter.count.get().write_volatile(before + 1);
        }
        counter.word.store(0, Ordering::Release);
    }

    /// Says how often the caller has counted. It is not part of counting: an atomic addition each time would
    /// empty the store buffer, in which a mistake may hide.
    pub(crate) fn counted(&self, times: u64) {
        self.truth.fetch_add(times, Ordering::Relaxed);
    }

    /// Counts, if nobody has the lock, on the core where the thread runs.
    pub(crate) fn at_home(&self) -> bool {
        let home = Native::cpu();
        let counter = &self.counters[home.0 as usize].0;
        // SAFETY: locks of cores are cheap, and a word always has the same home.
        let acquired = unsafe { Native::acquire_at_home(&counter.word, home) };
        if acquired {
            self.count(counter);
        }
        acquired
    }

    /// Counts for any core, if nobody has the lock.
    pub(crate) fn elsewhere(&self, core: usize) -> bool {
        let counter = &self.counters[core].0;
        let acquired = match self.afar {
            // SAFETY: as above.
            Afar::Right => unsafe { Native::acquire_from_afar(&counter.word, CpuId(core as u32)) },
            Afar::WithoutBarrier => {
                let exchanged =
                    counter.word.compare_exchange(0, 2, Ordering::Acquire, Ordering::Relaxed);
                exchanged.is_ok() && counter.word.load(Ordering::Relaxed) == 2
            }
        };
        if acquired {
            self.count(counter);
        }
        acquired
    }

    /// Returns by how much the counts differ from the truth, when nobody counts.
    pub(crate) fn lost(&self) -> u64 {
        // SAFETY: nobody counts.
        let counts = self.counters.iter().map(|counter| unsafe { *counter.0.count.get() });
        self.truth.load(Ordering::Relaxed).abs_diff(counts.sum())
    }

    /// Lets threads of all kinds count for some time, but at least until each way has been gone a few times.
    /// Returns how often threads have counted at home and from afar.
    pub(crate) fn contend(&self, time: Duration) -> [u64; 2] {
        let cores = &allowed()[..];
        let stop = AtomicBool::new(false);
        let counted = [AtomicU64::new(0), AtomicU64::new(0)];
        let until_stopped = |way: usize, attempts: usize, attempt: &dyn Fn(usize) -> bool| {
            while !stop.load(Ordering::Relaxed) {
                let times = (0..attempts).filter(|&nth| attempt(nth)).count() as u64;
                counted[way].fetch_add(times, Ordering::Relaxed);
                self.counted(times);
            }
        };
        let at_home = || until_stopped(0, 1000, &|_| self.at_home());
        let moved_id = AtomicI32::new(0);
        thread::scope(|scope| {
            for &core in cores {
                // Two threads that are pinned to each core.
                for _ in 0..2 {
                    scope.spawn(move || {
                        move_thread(0, &[core]);
                        at_home();
                    });
                }
                // One that comes from afar, though it may run at home.
                scope.spawn(|| {
                    until_stopped(1, 100, &|nth| self.elsewhere(cores[nth % cores.len()]));
                });
            }
            // One that the kernel moves as it likes, and one that is moved all the time.
            scope.spawn(at_home);
            scope.spawn(|| {
                // SAFETY: it only asks for a number.
                moved_id.store(unsafe { libc::gettid() }, Ordering::Relaxed);
                at_home();
            });
            let start = Instant::now();
            let few = |count: &AtomicU64| count.load(Ordering::Relaxed) < 100;
            let mut nth = 0;
            while start.elapsed() < time || counted.iter().any(few) {
                nth += 1;
                if moved_id.load(Ordering::Relaxed) != 0 {
                    move_thread(moved_id.load(Ordering::Relaxed), &[cores[nth % cores.len()]]);
                }
                if start.elapsed() > Duration::from_secs(60) {
                    break;
                }
                thread::sleep(Duration::from_micros(50));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let counted = counted.map(AtomicU64::into_inner);
        assert!(
            counted.iter().all(|times| *times >= 100),
            "one way is hardly ever gone: {counted:?}"
        );
        counted
    }
}
