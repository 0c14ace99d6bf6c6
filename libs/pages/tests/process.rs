//! What processes do: limits, forks, signals.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::{env, fs, thread};

use kilocore_pages::{PAGE_BYTES, PagePool, PoolError, PoolOptions};

/// Says to a copy of this program which of its tests is to run as what it tests.
const CHILD: &str = "KILOCORE_PAGES_CHILD";

/// Runs a test of this program alone, in a process with a limit on its address space.
fn limited(test: &str, bytes: u64) {
    let mut command = Command::new(env::current_exe().expect("the test runs"));
    command.args(["--exact", test, "--test-threads=1"]).env(CHILD, "1");
    let limit = move || {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: the limit is a live structure; it applies to the child only.
        match unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec it makes one system call and allocates nothing.
    unsafe { command.pre_exec(limit) };
    let output = command.output().expect("this program can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_limit_on_address_space_is_an_error_that_names_it() {
    if env::var_os(CHILD).is_none() {
        return limited("process::a_limit_on_address_space_is_an_error_that_names_it", 1 << 30);
    }
    let error = PagePool::new(&PoolOptions::new(1 << 20)).expect_err("4 GiB are too much");
    assert!(matches!(error, PoolError::Map { .. }), "{error}");
    assert!(error.to_string().contains("ulimit -v"), "{error}");
    let pool = PagePool::new(&PoolOptions::new(1 << 10)).expect("4 MiB are not");
    assert!(pool.allocate().is_ok());
}

/// A cgroup of this test with a limit on memory, or why there is none.
struct Limited(PathBuf);

impl Limited {
    fn new(bytes: u64) -> Result<Self, String> {
        let name = format!("kilocore-pages-{}", std::process::id());
        // The first version of cgroups has a folder for each controller, the second has one.
        for (root, limit) in
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
        {
            let folder = Path::new(root).join(&name);
            if fs::create_dir(&folder).is_ok() {
                let group = Limited(folder);
                if fs::write(group.0.join(limit), bytes.to_string()).is_ok() {
                    return Ok(group);
                }
            }
        }
        Err("no cgroup with a limit on memory can be made: that takes root and the controller"
            .into())
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

const MIB: usize = 1 << 20;
/// What says to a child how much it may have, and whether it is to give back what it does not need.
const GROUP: &str = "KILOCORE_PAGES_CGROUP";
const TRIM: &str = "KILOCORE_PAGES_TRIM";

/// Uses four fifths of the limit for pages, releases them, and then uses as much other memory.
fn use_twice() {
    let group = env::var(GROUP).expect("the parent says");
    fs::write(Path::new(&group).join("cgroup.procs"), "0").expect("a process may join");
    let pages = (80 * MIB / PAGE_BYTES) as u32;
    let mut options = PoolOptions::new(pages);
    options.tiers.shared_frames = 1024;
    let pool = PagePool::new(&options).expect("there are addresses for it");
    let mut held: Vec<_> = (0..pages).map(|_| pool.allocate().expect("one is free")).collect();
    held.iter_mut().for_each(|page| page.fill(1));
    drop(held);
    if env::var_os(TRIM).is_some() {
        pool.trim();
    }
    let other = vec![1_u8; 80 * MIB];
    assert_eq!(
        other.iter().step_by(PAGE_BYTES).map(|byte| usize::from(*byte)).sum::<usize>(),
        80 * MIB / PAGE_BYTES
    );
}

#[test]
fn within_a_memory_limit_a_trim_makes_room_for_others() {
    if env::var_os(CHILD).is_some() {
        return use_twice();
    }
    let group = match Limited::new(100 * MIB as u64) {
        Ok(group) => group,
        Err(reason) => return eprintln!("not tested: {reason}"),
    };
    let ends = |trim: bool| {
        let test = "process::within_a_memory_limit_a_trim_makes_room_for_others";
        let mut command = Command::new(env::current_exe().expect("the test runs"));
        command.args(["--exact", test, "--test-threads=1"]).env(CHILD, "1").env(GROUP, &group.0);
        if trim {
            command.env(TRIM, "1");
        }
        command.output().expect("this program can be started").status
    };
    assert!(ends(true).success(), "what was trimmed is others'");
    // Unless the host has swap, the kernel ends who has too much.
    let without = ends(false);
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default().lines().count() > 1;
    assert!(swaps || without.signal() == Some(libc::SIGKILL), "{without}");
}

/// Runs something in a child process, which must not allocate, and expects that it returns true.
fn in_child(run: impl FnOnce() -> bool) {
    // SAFETY: the child uses the pool, which takes no lock that others could hold for ever, and ends
    // without running anything of the test's.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            let fine = run();
            // SAFETY: it ends the child.
            unsafe { libc::_exit(if fine { 0 } else { 1 }) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is live.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0, "the child found something wrong");
        }
    }
}

#[test]
fn a_child_can_use_the_pages_of_its_parent_while_other_threads_allocate() {
    let mut options = PoolOptions::new(5000);
    options.tiers.private_frames = 32;
    options.tiers.shared_frames = 128;
    let pool = PagePool::new(&options).expect("there are addresses for it");
    let mut held = pool.allocate().expect("one is free");
    held.fill(9);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let pages: Vec<_> = (0..50).map_while(|_| pool.allocate().ok()).collect();
                    drop(pages);
                }
            });
        }
        for _ in 0..50 {
            let (pool, held) = (&pool, &held);
            in_child(move || {
                let own = held.iter().all(|byte| *byte == 9);
                let mut zero = true;
                for _ in 0..200 {
                    let pages: [_; 20] = std::array::from_fn(|_| pool.allocate());
                    for mut page in pages.into_iter().flatten() {
                        zero &= page.iter().all(|byte| *byte == 0);
                        page.fill(3);
                    }
                }
                own && zero && pool.allocate().is_ok()
            });
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(held.iter().all(|byte| *byte == 9), "what the children wrote is theirs");
}

static POOL: AtomicPtr<PagePool> = AtomicPtr::new(std::ptr::null_mut());
static IN_HANDLER: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_: libc::c_int) {
    // SAFETY: the pool is there while the timer runs.
    let Some(pool) = (unsafe { POOL.load(Ordering::Acquire).as_ref() }) else { return };
    if let Ok(mut page) = pool.allocate() {
        if page.iter().any(|byte| *byte != 0) {
            WRONG.store(true, Ordering::Relaxed);
        }
        page.fill(1);
        IN_HANDLER.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_signal_handler_allocates_while_the_thread_it_interrupts_does() {
    if env::var_os(CHILD).is_none() {
        // In a process of its own, as the handler and the timer are the process's.
        return limited(
            "process::a_signal_handler_allocates_while_the_thread_it_interrupts_does",
            u64::MAX,
        );
    }
    let mut pool = PagePool::new(&PoolOptions::new(600)).expect("there are addresses for it");
    POOL.store(&raw mut pool, Ordering::Release);
    // SAFETY: the handler is a function of this program that allocates nothing but pages.
    unsafe { libc::signal(libc::SIGALRM, on_signal as *const () as libc::sighandler_t) };
    let every = libc::timeval { tv_sec: 0, tv_usec: 50 };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the timer is a live structure.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
    // The pool is used through a shared pointer, as the handler does.
    // SAFETY: it lives until the end of the test.
    let shared = unsafe { &*POOL.load(Ordering::Acquire) };
    while IN_HANDLER.load(Ordering::Relaxed) < 500 {
        for mut page in (0..40).map_while(|_| shared.allocate().ok()).collect::<Vec<_>>() {
            assert!(page.iter().all(|byte| *byte == 0));
            page.fill(2);
        }
    }
    let off = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: 0 },
    };
    // SAFETY: as above.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &off, std::ptr::null_mut()) };
    POOL.store(std::ptr::null_mut(), Ordering::Release);
    assert!(!WRONG.load(Ordering::Relaxed), "the handler saw somebody's data");
    assert_eq!(pool.validate(), 600, "each page is free in the end");
}
