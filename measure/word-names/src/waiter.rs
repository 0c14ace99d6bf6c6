//! What a thread waits for, by the functions on its stack.
//!
//! Innermost is the system call, then come the functions of synchronization libraries, and then the
//! program's own. Of the libraries' functions, the outermost that is known decides: it is what the
//! program asked for. `take_gil` calls `pthread_cond_timedwait`, and what matters is the former.
//! Known functions further out do not count. A callback that waits for a mutex does not wait for
//! whatever called it.

use kilocore_lock_profile::Frame;

/// What kind of thing a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitKind {
    /// A lock that one thread holds at a time.
    Mutex,
    /// A lock that readers share.
    ReadWrite,
    /// A lock that is waited for on the processor.
    Spin,
    /// A condition variable.
    Condition,
    /// A barrier.
    Barrier,
    /// A semaphore.
    Semaphore,
    /// The end of a thread.
    Join,
    /// Something that is done once.
    Once,
    /// A channel or a queue.
    Channel,
    /// Work, in a runtime's own thread.
    Idle,
    /// The lock of an interpreter, without which none of its threads computes.
    GlobalInterpreterLock,
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiter {
    /// The kind of thing.
    pub kind: WaitKind,
    /// What its users call it.
    pub what: &'static str,
    /// Whether the word that the thread sleeps on is its own parking place and not the lock.
    pub parks: bool,
    /// Which of the frames is the first of the program's own; what it called, if none of these is known.
    pub own: usize,
}

/// A function: how its name begins, what it waits for, what that is called, whether threads park.
type Known = (&'static str, WaitKind, &'static str, bool);

const C: &[Known] = {
    use WaitKind::*;
    &[
        ("pthread_mutex_", Mutex, "pthread mutex", false),
        ("__pthread_mutex_", Mutex, "pthread mutex", false),
        ("___pthread_mutex_", Mutex, "pthread mutex", false),
        ("__GI___pthread_mutex_", Mutex, "pthread mutex", false),
        ("lll_mutex_lock", Mutex, "pthread mutex", false),
        ("__lll_lock_wait", Mutex, "pthread mutex", false),
        ("futex_wait_cancelable", Condition, "pthread condition variable", false),
        ("pthread_rwlock_", ReadWrite, "pthread read-write lock", false),
        ("__pthread_rwlock_", ReadWrite, "pthread read-write lock", false),
        ("___pthread_rwlock_", ReadWrite, "pthread read-write lock", false),
        ("pthread_cond_", Condition, "pthread condition variable", false),
        ("__pthread_cond_", Condition, "pthread condition variable", false),
        ("___pthread_cond_", Condition, "pthread condition variable", false),
        ("pthread_barrier_wait", Barrier, "pthread barrier", false),
        ("__pthread_barrier_wait", Barrier, "pthread barrier", false),
        ("___pthread_barrier_wait", Barrier, "pthread barrier", false),
        ("pthread_spin_lock", Spin, "pthread spin lock", false),
        ("__pthread_spin_lock", Spin, "pthread spin lock", false),
        ("sem_wait", Semaphore, "POSIX semaphore", false),
        ("sem_timedwait", Semaphore, "POSIX semaphore", false),
        ("sem_clockwait", Semaphore, "POSIX semaphore", false),
        ("__new_sem_wait", Semaphore, "POSIX semaphore", false),
        ("__sem_", Semaphore, "POSIX semaphore", false),
        ("pthread_join", Join, "thread", false),
        ("__pthread_join", Join, "thread", false),
        ("___pthread_join", Join, "thread", false),
        ("__pthread_clockjoin", Join, "thread", false),
        ("__pthread_timedjoin", Join, "thread", false),
        ("pthread_clockjoin", Join, "thread", false),
        ("pthread_once", Once, "pthread_once", false),
        ("__pthread_once", Once, "pthread_once", false),
        ("std::__detail::__waiter", Mutex, "C++ std::atomic::wait", false),
        ("std::__detail::__platform_wait", Mutex, "C++ std::atomic::wait", false),
        ("std::__atomic_base", Mutex, "C++ std::atomic::wait", false),
        ("std::atomic", Mutex, "C++ std::atomic::wait", false),
        ("std::mutex::lock", Mutex, "C++ std::mutex", false),
        ("std::lock_guard<std::mutex", Mutex, "C++ std::mutex", false),
        ("std::unique_lock<std::mutex", Mutex, "C++ std::mutex", false),
        ("std::shared_mutex", ReadWrite, "C++ std::shared_mutex", false),
        ("std::__shared_mutex", ReadWrite, "C++ std::shared_mutex", false),
        ("std::condition_variable", Condition, "C++ std::condition_variable", false),
        ("std::thread::join", Join, "thread", false),
        ("std::barrier", Barrier, "C++ std::barrier", false),
        ("std::latch", Barrier, "C++ std::latch", false),
        ("std::counting_semaphore", Semaphore, "C++ std::counting_semaphore", false),
        ("absl::Mutex::", Mutex, "absl::Mutex", true),
        ("absl::lts_", Mutex, "absl::Mutex", true),
        ("absl::debian", Mutex, "absl::Mutex", true),
        ("AbslInternalPerThreadSem", Mutex, "absl::Mutex", true),
        ("absl::CondVar", Condition, "absl::CondVar", true),
        ("GOMP_critical", Mutex, "OpenMP critical section", false),
        ("gomp_mutex_lock", Mutex, "OpenMP lock", false),
        ("omp_set_lock", Mutex, "OpenMP lock", false),
        ("gomp_barrier", Barrier, "OpenMP barrier", false),
        ("GOMP_barrier", Barrier, "OpenMP barrier", false),
        ("gomp_team_barrier", Barrier, "OpenMP barrier", false),
        ("gomp_team_end", Barrier, "OpenMP barrier", false),
        ("gomp_simple_barrier", Barrier, "OpenMP barrier", false),
        ("gomp_sem_wait", Semaphore, "OpenMP semaphore", false),
        ("__kmpc_critical", Mutex, "OpenMP critical section", false),
        ("__kmpc_barrier", Barrier, "OpenMP barrier", false),
        ("__kmp_", Barrier, "OpenMP barrier", true),
        ("take_gil", GlobalInterpreterLock, "Python's global interpreter lock", true),
        ("PyEval_RestoreThread", GlobalInterpreterLock, "Python's global interpreter lock", true),
        ("drop_gil", GlobalInterpreterLock, "Python's global interpreter lock", true),
        ("PyThread_acquire_lock", Mutex, "Python lock", false),
        ("LWLockAcquire", ReadWrite, "PostgreSQL LWLock", true),
        ("LWLockWait", ReadWrite, "PostgreSQL LWLock", true),
        ("s_lock", Spin, "PostgreSQL spin lock", false),
        ("ProcSleep", Mutex, "PostgreSQL heavyweight lock", true),
        ("ngx_shmtx_lock", Mutex, "nginx shared mutex", false),
        ("je_malloc_mutex_lock", Mutex, "jemalloc mutex", false),
    ]
};

const RUST: &[Known] = {
    use WaitKind::*;
    &[
        ("std::sys::sync::mutex::futex::Mutex", Mutex, "Rust std::sync::Mutex", false),
        ("std::sys::sync::rwlock::futex::RwLock", ReadWrite, "Rust std::sync::RwLock", false),
        ("std::sys::sync::condvar::futex::Condvar", Condition, "Rust std::sync::Condvar", false),
        ("std::sys::sync::once::futex::Once", Once, "Rust std::sync::Once", false),
        ("std::sync::barrier::Barrier", Barrier, "Rust std::sync::Barrier", false),
        ("std::sync::poison::mutex::Mutex", Mutex, "Rust std::sync::Mutex", false),
        ("std::sync::mutex::Mutex", Mutex, "Rust std::sync::Mutex", false),
        ("std::sync::mpmc", Channel, "Rust channel", true),
        ("std::sync::mpsc", Channel, "Rust channel", true),
        ("std::thread::park", Idle, "Rust thread::park", true),
        ("std::thread::JoinHandle", Join, "thread", false),
        ("std::thread::JoinInner", Join, "thread", false),
        ("std::thread::lifecycle::JoinInner", Join, "thread", false),
        ("std::thread::scoped", Join, "thread", true),
        ("parking_lot::raw_mutex", Mutex, "parking_lot::Mutex", true),
        ("parking_lot::raw_rwlock", ReadWrite, "parking_lot::RwLock", true),
        ("parking_lot::condvar", Condition, "parking_lot::Condvar", true),
        ("crossbeam_channel::", Channel, "crossbeam channel", true),
        ("tokio::runtime::scheduler", Idle, "tokio worker", true),
        ("rayon_core::sleep", Idle, "rayon worker", false),
        ("spin::mutex", Spin, "spin::Mutex", false),
    ]
};

const GO: &[Known] = {
    use WaitKind::*;
    &[
        ("internal/sync.(*Mutex)", Mutex, "Go sync.Mutex", true),
        ("sync.(*Mutex)", Mutex, "Go sync.Mutex", true),
        ("sync.(*RWMutex)", ReadWrite, "Go sync.RWMutex", true),
        ("sync.(*WaitGroup)", Join, "Go sync.WaitGroup", true),
        ("sync.(*Cond)", Condition, "Go sync.Cond", true),
        ("sync.(*Once)", Once, "Go sync.Once", true),
        ("runtime.chanrecv", Channel, "Go channel", true),
        ("runtime.chansend", Channel, "Go channel", true),
        ("runtime.selectgo", Channel, "Go select", true),
        ("runtime.lock2", Mutex, "a lock of Go's runtime", false),
        ("runtime.lock", Mutex, "a lock of Go's runtime", false),
        ("runtime.stopm", Idle, "Go: no goroutine to run", true),
        ("runtime.findRunnable", Idle, "Go: no goroutine to run", true),
        ("runtime.findrunnable", Idle, "Go: no goroutine to run", true),
        ("runtime.schedule", Idle, "Go: no goroutine to run", true),
        ("runtime.notesleep", Idle, "Go: no goroutine to run", true),
        ("runtime.notetsleep", Idle, "Go's runtime", true),
        ("runtime.mPark", Idle, "Go: no goroutine to run", true),
        ("runtime.sysmon", Idle, "Go's monitor thread", true),
        ("runtime.templateThread", Idle, "Go's runtime", true),
    ]
};

const JAVA: &[Known] = {
    use WaitKind::*;
    &[
        ("ObjectMonitor::enter", Mutex, "Java monitor", true),
        ("ObjectMonitor::EnterI", Mutex, "Java monitor", true),
        ("ObjectMonitor::ReenterI", Mutex, "Java monitor", true),
        ("ObjectSynchronizer::enter", Mutex, "Java monitor", true),
        ("ObjectMonitor::wait", Condition, "Java Object.wait", true),
        ("ObjectSynchronizer::wait", Condition, "Java Object.wait", true),
        ("Unsafe_Park", Mutex, "Java java.util.concurrent lock", true),
        ("Parker::park", Mutex, "Java java.util.concurrent lock", true),
        ("java.util.concurrent.locks.", Mutex, "Java java.util.concurrent lock", true),
        ("Ljava/util/concurrent/locks/", Mutex, "Java java.util.concurrent lock", true),
        ("Monitor::", Idle, "a thread of the Java machine", true),
        ("Mutex::lock", Mutex, "a lock of the Java machine", false),
        ("PlatformMonitor::", Idle, "a thread of the Java machine", true),
        ("os::PlatformEvent::park", Idle, "a thread of the Java machine", true),
        ("PlatformEvent::park", Idle, "a thread of the Java machine", true),
        ("Semaphore::", Idle, "a thread of the Java machine", true),
        ("PosixSemaphore::", Idle, "a thread of the Java machine", true),
        ("WorkGang", Idle, "a thread of the Java machine", true),
        ("GangWorker", Idle, "a thread of the Java machine", true),
        ("VMThread::", Idle, "a thread of the Java machine", true),
    ]
};

/// What the names of libraries' functions begin with that are on the way from what the program
/// called to the system call.
const LIBRARY: &[&str] = &[
    "__",
    "futex",
    "syscall",
    "lll_",
    "do_futex",
    "std::",
    "<std::",
    "core::",
    "<core::",
    "alloc::",
    "parking_lot",
    "<parking_lot",
    "lock_api::",
    "<lock_api::",
    "crossbeam",
    "tokio::",
    "rayon_core::",
    "sync.",
    "runtime.",
    "internal/",
    "absl::",
    "gomp_",
    "GOMP_",
    "java.util.concurrent.",
    "Ljava/util/concurrent/",
    "jdk.internal.",
    "Ljdk/internal/",
    "JVM_",
    "Java_",
    "os::",
    "SafepointSynchronize",
    "ThreadBlockInVM",
    "SharedRuntime::",
    "JavaThread::",
    "WaitBarrier",
    "Thread::",
    "PGSemaphore",
    "start_thread",
    "clone",
    "thread_native_entry",
    "PyEval_",
    "PyCOND_",
    "PyMUTEX_",
    "eval_frame_handle_pending",
    "PyThread_",
    "call_once",
    "operator",
];

/// Files of libraries all of whose functions are.
const LIBRARY_FILES: &[&str] = &[
    "libc.so",
    "libc-2",
    "libpthread",
    "libstdc++",
    "libgomp",
    "libjvm",
    "ld-linux",
    "libabsl",
    "ld-musl",
];

fn known(frame: &Frame) -> Option<&'static Known> {
    // Some compilers write `<path::of::Type>::function`.
    let function = frame.function.trim_start_matches('<');
    if function.is_empty() && file_of(frame).starts_with("libgomp") {
        return Some(&("", WaitKind::Mutex, "OpenMP lock", false));
    }
    [C, RUST, GO, JAVA]
        .into_iter()
        .flatten()
        .filter(|(begins, ..)| function.starts_with(begins))
        .max_by_key(|(begins, ..)| begins.len())
}

fn file_of(frame: &Frame) -> &str {
    frame.module.rsplit('/').next().unwrap_or_default()
}

fn is_of_a_library(frame: &Frame) -> bool {
    let file = file_of(frame);
    LIBRARY_FILES.iter().any(|library| file.starts_with(library))
        || known(frame).is_some()
        || LIBRARY.iter().any(|begins| frame.function.trim_start_matches('<').starts_with(begins))
        // The program's own frames beside inlined ones of a library without a name.
        || frame.function.is_empty() && frame.module.is_empty()
}

/// Returns which of the frames is the first that belongs to no library; the number of frames if
/// all do.
#[must_use]
pub fn own_frame(frames: &[Frame]) -> usize {
    frames.iter().position(|frame| !is_of_a_library(frame)).unwrap_or(frames.len())
}

/// Tells from the frames of a waiting thread, the innermost first, what it waits for.
#[must_use]
pub fn waiter(frames: &[Frame]) -> Option<Waiter> {
    let own = own_frame(frames);
    let (at, (_, kind, what, parks)) =
        frames[..own].iter().enumerate().rev().find_map(|(at, frame)| Some((at, known(frame)?)))?;
    // Where nothing of the program's own can be seen, what it called is nearest to that.
    let own = if own == frames.len() { at } else { own };
    Some(Waiter { kind: *kind, what, parks: *parks, own })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(functions: &[(&str, &str)]) -> Vec<Frame> {
        let of = |(function, module): &(&str, &str)| Frame {
            function: (*function).to_owned(),
            module: (*module).to_owned(),
            offset: 0,
            line: None,
        };
        functions.iter().map(of).collect()
    }

    #[test]
    fn what_the_program_called_decides() {
        let libc = "/lib/x86_64-linux-gnu/libc.so.6";
        for (functions, kind, what, own) in [
            (
                vec![("", libc), ("pthread_mutex_lock", libc), ("planted_section", "/tmp/a")],
                WaitKind::Mutex,
                "pthread mutex",
                2,
            ),
            (
                vec![
                    ("__futex_abstimed_wait_common", libc),
                    ("pthread_cond_timedwait@@GLIBC_2.3.2", libc),
                    ("take_gil", "/usr/bin/python3.11"),
                    ("PyEval_RestoreThread", "/usr/bin/python3.11"),
                    ("time_sleep", "/usr/bin/python3.11"),
                ],
                WaitKind::GlobalInterpreterLock,
                "Python's global interpreter lock",
                4,
            ),
            (
                vec![
                    ("syscall", libc),
                    ("std::sys::pal::unix::futex::futex_wait", "/tmp/r"),
                    ("std::sys::sync::mutex::futex::Mutex::lock_contended", "/tmp/r"),
                    ("planted::section", "/tmp/r"),
                    ("std::sync::mpsc::Receiver::recv", "/tmp/r"),
                ],
                WaitKind::Mutex,
                "Rust std::sync::Mutex",
                3,
            ),
            (
                vec![
                    ("runtime.futex", "/tmp/g"),
                    ("runtime.futexsleep", "/tmp/g"),
                    ("runtime.notesleep", "/tmp/g"),
                    ("runtime.mPark", "/tmp/g"),
                    ("runtime.stopm", "/tmp/g"),
                    ("runtime.findRunnable", "/tmp/g"),
                    ("runtime.schedule", "/tmp/g"),
                ],
                WaitKind::Idle,
                "Go: no goroutine to run",
                6,
            ),
        ] {
            let waiter = waiter(&stack(&functions)).expect("it is known");
            assert_eq!((waiter.kind, waiter.what, waiter.own), (kind, what, own));
        }
        assert_eq!(waiter(&stack(&[("main", "/tmp/a")])), None);
        assert_eq!(waiter(&[]), None);
    }
}
