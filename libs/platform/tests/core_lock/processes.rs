//! Contention in processes of various kinds. Each test runs in a process of its own.

use std::env;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::contenders::{Afar, Counters, allowed};

/// Says to a copy of this program which of its tests is to run as what it tests.
const CHILD: &str = "KILOCORE_CORE_LOCK_CHILD";

const NO_RSEQ: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");

/// Returns whether this is the process for the test. If not, runs it in one, with a variable set.
fn in_own_process(test: &str, variable: Option<(&str, &str)>) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let mut command = Command::new(env::current_exe().expect("the test runs"));
    let name = format!("processes::{test}");
    command.args(["--exact", &name, "--test-threads=1", "--nocapture"]).env(CHILD, "1");
    command.envs(variable);
    let output = command.output().expect("this program can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
    eprintln!("{text}");
    false
}

/// Returns counters, or says that there are none here.
fn counters(afar: Afar) -> Option<Counters> {
    let counters = Counters::new(afar);
    if counters.is_none() {
        println!("no restartable sequences here");
    }
    counters
}

#[test]
fn no_count_is_lost() {
    if !in_own_process("no_count_is_lost", None) {
        return;
    }
    let Some(counters) = counters(Afar::Right) else { return };
    let counted = counters.contend(Duration::from_secs(3));
    assert_eq!(counters.lost(), 0);
    println!("{counted:?}");
}

/// The same without `membarrier`: what the test above looks for does happen.
#[test]
fn counts_are_lost_without_the_barrier() {
    if !in_own_process("counts_are_lost_without_the_barrier", None) {
        return;
    }
    let Some(counters) = counters(Afar::WithoutBarrier) else { return };
    if allowed().len() < 2 {
        println!("with one core, sections and exchanges never overlap");
        return;
    }
    let start = Instant::now();
    let mut counted = [0; 2];
    while counters.lost() == 0 && start.elapsed() < Duration::from_secs(60) {
        let more = counters.contend(Duration::from_millis(200));
        counted = [counted[0] + more[0], counted[1] + more[1]];
    }
    println!("{} lost of {counted:?}", counters.lost());
    assert!(counters.lost() > 0, "the test sees no mistake");
}

static SIGNALLED: OnceLock<Counters> = OnceLock::new();
static IN_HANDLER: AtomicU64 = AtomicU64::new(0);

extern "C" fn on_signal(_: libc::c_int) {
    if let Some(counters) = SIGNALLED.get() {
        let nth = IN_HANDLER.fetch_add(1, Ordering::Relaxed) as usize;
        counters.counted(counters.at_home().into());
        counters.counted(counters.elsewhere(nth % counters.cores()).into());
    }
}

#[test]
fn signal_handlers_count_too() {
    if !in_own_process("signal_handlers_count_too", None) {
        return;
    }
    let Some(counters) = counters(Afar::Right) else { return };
    let counters = SIGNALLED.get_or_init(|| counters);
    // SAFETY: the handler is a function of this program that allocates nothing.
    unsafe { libc::signal(libc::SIGALRM, on_signal as *const () as libc::sighandler_t) };
    let set = |micros| {
        let every = libc::timeval { tv_sec: 0, tv_usec: micros };
        let timer = libc::itimerval { it_interval: every, it_value: every };
        // SAFETY: the timer is a live structure.
        unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
    };
    set(100);
    let counted = counters.contend(Duration::from_secs(2));
    set(0);
    assert_eq!(counters.lost(), 0);
    let handled = IN_HANDLER.load(Ordering::Relaxed);
    assert!(handled > 100, "{handled} signals");
    println!("{counted:?}, {handled} signals");
}

#[test]
fn the_child_of_a_fork_counts_as_its_parent_does() {
    if !in_own_process("the_child_of_a_fork_counts_as_its_parent_does", None) {
        return;
    }
    let Some(counters) = counters(Afar::Right) else { return };
    thread::scope(|scope| {
        scope.spawn(|| counters.contend(Duration::from_millis(100)));
    });
    for _ in 0..3 {
        // SAFETY: this process has one thread that does anything now, the tests' own waits. The child uses
        // only what glibc allows after that, and ends without running anything of the test's.
        match unsafe { libc::fork() } {
            -1 => panic!("fork: {}", std::io::Error::last_os_error()),
            0 => {
                let [home, afar] = counters.contend(Duration::from_millis(300));
                let fine = counters.lost() == 0 && home > 0 && afar > 0;
                // SAFETY: it ends the child.
                unsafe { libc::_exit(if fine { 0 } else { 1 }) }
            }
            child => {
                let mut status = 0;
                // SAFETY: `status` is live.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0, "the child lost a count");
            }
        }
    }
    assert_eq!(counters.lost(), 0);
}

#[test]
fn homes_are_not_cheap_without_rseq() {
    if in_own_process("homes_are_not_cheap_without_rseq", Some(NO_RSEQ)) {
        assert!(Counters::new(Afar::Right).is_none());
    }
}

/// Installs a filter by which `membarrier` fails for this thread from now on.
fn forbid_membarrier() {
    let [load, compare, end] = [
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    ]
    .map(|code| code as u16);
    let line = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // The number of the call is the first thing that a filter is shown.
    let mut lines = [
        line(load, 0, 0, 0),
        line(compare, 0, 1, libc::SYS_membarrier as u32),
        line(end, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        line(end, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: lines.len() as u16, filter: lines.as_mut_ptr() };
    // SAFETY: the kernel copies the filter, which is live.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter), 0);
    }
}

#[test]
fn homes_are_not_cheap_without_membarrier() {
    if in_own_process("homes_are_not_cheap_without_membarrier", None) {
        forbid_membarrier();
        assert!(Counters::new(Afar::Right).is_none());
    }
}

#[test]
fn a_lock_is_not_lost_if_membarrier_is_forbidden_later() {
    if !in_own_process("a_lock_is_not_lost_if_membarrier_is_forbidden_later", None) {
        return;
    }
    let Some(counters) = counters(Afar::Right) else { return };
    assert!(counters.elsewhere(0), "the lock is free");
    forbid_membarrier();
    for core in 0..counters.cores() {
        assert!(!counters.elsewhere(core), "nobody knows what runs on the core");
    }
    // The thread may be moved while it acquires, but not every time.
    assert!((0..1000).any(|_| counters.at_home()), "the locks are free again");
}
