use kilocore_lock_profile::Frame;
use proptest::prelude::*;

use super::*;

/// Makes a stack of `function@file < function@file`.
fn stack(text: &str) -> Vec<Frame> {
    let frame = |text: &str| {
        let (function, file) = text.rsplit_once('@').expect("a frame has a file");
        let module = if file.is_empty() { String::new() } else { format!("/usr/lib/{file}") };
        Frame { function: function.to_owned(), module, offset: 0, line: None }
    };
    text.split(" < ").map(frame).collect()
}

fn wait_of(text: &str) -> Option<(WaitKind, &'static str)> {
    waiter(&stack(text)).map(|waiter| (waiter.kind, waiter.what))
}

#[test]
fn observed_stacks_are_understood() {
    let mut count = 0;
    for line in include_str!("observed.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        count += 1;
        let parts: Vec<&str> = line.split(" | ").collect();
        let [kind, what, word, frames] = parts[..] else {
            let ["None", frames] = parts[..] else { panic!("{line}") };
            assert_eq!(waiter(&stack(frames)), None, "{line}");
            continue;
        };
        let (frames, has_own) = match frames.strip_suffix(" .") {
            Some(frames) => (frames, false),
            None => (frames, true),
        };
        let frames = stack(frames);
        let own = frames.len() - usize::from(has_own);
        let found = waiter(&frames).unwrap_or_else(|| panic!("it waits: {line}"));
        assert_eq!((format!("{:?}", found.kind).as_str(), found.what), (kind, what), "{line}");
        assert_eq!(own_frame(&frames), own, "{line}");
        assert!(found.own == own || !has_own && found.own < own, "{line}: {}", found.own);
        assert_eq!(found.parks, word == "own", "{line}");
    }
    assert!(count > 100, "{count}");
}

/// Stacks of programs that are not at hand, by the names in their sources.
#[test]
fn functions_of_other_programs_are_known() {
    for (frames, kind, what) in [
        ("__wait@a < __lock@a < user@a", WaitKind::Mutex, "musl lock"),
        ("__timedwait_cp@a < pthread_mutex_timedlock@a < user@a", WaitKind::Mutex, "pthread mutex"),
        (
            "syscall@libc.so.6 < absl::lts_20220623::synchronization_internal::Waiter::Wait(\
             absl::lts_20220623::synchronization_internal::KernelTimeout)@a < \
             AbslInternalPerThreadSemWait_lts_20220623@a < \
             absl::lts_20220623::Mutex::Block(absl::lts_20220623::base_internal::PerThreadSynch*)@a \
             < absl::lts_20220623::Mutex::LockSlow(int)@a < user()@a",
            WaitKind::Mutex,
            "absl::Mutex",
        ),
        (
            "syscall@libc.so.6 < AbslInternalPerThreadSemWait@a < \
             absl::CondVar::WaitCommon(absl::Mutex*, int)@a < user()@a",
            WaitKind::Condition,
            "absl::CondVar",
        ),
        (
            "do_futex_wait@libc.so.6 < __new_sem_wait_slow@libc.so.6 < PGSemaphoreLock@postgres < \
             LWLockAcquire@postgres < XLogInsertRecord@postgres",
            WaitKind::ReadWrite,
            "PostgreSQL LWLock",
        ),
        (
            "epoll_wait@libc.so.6 < WaitEventSetWait@postgres < WaitLatch@postgres < \
             ProcSleep@postgres < LockAcquireExtended@postgres < heap_lock_tuple@postgres",
            WaitKind::Mutex,
            "PostgreSQL heavyweight lock",
        ),
        (
            "syscall@libc.so.6 < ssux_lock_impl<true>::wr_wait(unsigned int)@mariadbd < \
             trx_commit(trx_t*)@mariadbd",
            WaitKind::ReadWrite,
            "InnoDB read-write lock",
        ),
        (
            "pthread_cond_wait@libc.so.6 < os_event::wait_low(long)@mysqld < \
             sync_array_wait_event(sync_array_t*, sync_cell_t*&)@mysqld < \
             TTASEventMutex<GenericPolicy>::wait(char const*, unsigned int, unsigned int)@mysqld < \
             PolicyMutex<TTASEventMutex<GenericPolicy> >::enter(unsigned, unsigned)@mysqld < \
             buf_page_get_gen(page_id_t const&)@mysqld",
            WaitKind::Mutex,
            "InnoDB mutex",
        ),
        (
            "__kmp_wait_4@libomp.so.5 < __kmp_acquire_ticket_lock@libomp.so.5 < \
             __kmpc_critical@libomp.so.5 < .omp_outlined.@a",
            WaitKind::Mutex,
            "OpenMP critical section",
        ),
        (
            "pthread_cond_wait@libc.so.6 < __kmp_suspend_64@libomp.so.5 < \
             __kmp_fork_barrier(int, int)@libomp.so.5 < __kmp_launch_thread@libomp.so.5 < \
             __kmp_launch_worker(void*)@libomp.so.5",
            WaitKind::Idle,
            "OpenMP worker",
        ),
        (
            "futex_wait@libgomp.so.1 < do_wait@libgomp.so.1 < gomp_mutex_lock_slow@libgomp.so.1 < \
             GOMP_critical_start@libgomp.so.1 < main._omp_fn.0@a",
            WaitKind::Mutex,
            "OpenMP critical section",
        ),
        (
            "futex_wait@libc.so.6 < __lll_lock_wait_private@libc.so.6 < _int_free@libc.so.6 < \
             __GI___libc_free@libc.so.6 < user@a",
            WaitKind::Mutex,
            "glibc malloc arena",
        ),
        (
            "__lll_lock_wait@libc.so.6 < pthread_mutex_lock@libc.so.6 < \
             __GI___dl_iterate_phdr@libc.so.6 < _Unwind_Find_FDE@libgcc_s.so.1 < \
             _Unwind_RaiseException@libgcc_s.so.1 < __cxa_throw@libstdc++.so.6 < user()@a",
            WaitKind::Mutex,
            "dynamic linker's lock",
        ),
        (
            "runtime.futex@a < runtime.futexsleep@a < runtime.semasleep@a < runtime.lock2@a < \
             runtime.semacquire1@a < sync.(*Mutex).lockSlow@a < main.work@a",
            WaitKind::Mutex,
            "a lock of Go's runtime",
        ),
        (
            "runtime.gopark@a < runtime.semacquire1@a < sync.runtime_SemacquireMutex@a < \
             sync.(*Mutex).lockSlow@a < sync.(*Mutex).Lock@a < main.work@a",
            WaitKind::Mutex,
            "Go sync.Mutex",
        ),
        ("runtime.gopark@a < runtime.selectgo@a < main.work@a", WaitKind::Channel, "Go select"),
        (
            "__lll_lock_wait@libc.so.6 < std::lock_guard<std::mutex>::lock_guard(std::mutex&)@a < \
             user()@a",
            WaitKind::Mutex,
            "C++ std::mutex",
        ),
        (
            "syscall@libc.so.6 < std::sync::poison::mutex::Mutex<T>::lock@a < a::work@a",
            WaitKind::Mutex,
            "Rust std::sync::Mutex",
        ),
        (
            "syscall@libc.so.6 < LWLockWaitListLock@postgres < x@a",
            WaitKind::ReadWrite,
            "PostgreSQL LWLock",
        ),
        (
            "syscall@libc.so.6 < std::sys::unix::locks::futex_mutex::Mutex::lock_contended@a < \
             a::work@a",
            WaitKind::Mutex,
            "Rust std::sync::Mutex",
        ),
    ] {
        assert_eq!(wait_of(frames), Some((kind, what)), "{frames}");
    }
}

#[test]
fn the_outermost_row_before_the_users_program_wins() {
    let inner = "pthread_mutex_lock@libc.so.6 < init@a < pthread_once@libc.so.6 < main@a";
    let found = waiter(&stack(inner)).expect("it waits");
    assert_eq!((found.what, found.own), ("pthread mutex", 1));
    let outer = "pthread_cond_timedwait@libc.so.6 < std::condition_variable::wait_until@a < main@a";
    assert_eq!(wait_of(outer), Some((WaitKind::Condition, "C++ std::condition_variable")));
}

#[test]
fn a_thread_that_comes_back_with_a_lock_waits_for_the_interpreter() {
    let frames = "pthread_cond_timedwait@libc.so.6 < take_gil@python3 < PyEval_RestoreThread@python3 \
                  < acquire_timed@python3 < lock_PyThread_acquire_lock@python3";
    let found = waiter(&stack(frames)).expect("it waits");
    // All of these are the interpreter's, and so the place is what waits.
    assert_eq!(
        (found.kind, found.own, own_frame(&stack(frames))),
        (WaitKind::GlobalInterpreterLock, 1, 5)
    );
}

#[test]
fn having_no_work_does_not_replace_a_lock() {
    let frames = "parking_lot::raw_mutex::RawMutex::lock_slow@a < \
                  tokio::runtime::blocking::pool::Inner::run@a";
    let found = waiter(&stack(frames)).expect("it waits");
    assert_eq!((found.kind, found.parks), (WaitKind::Mutex, true));
    let idle = "parking_lot::condvar::Condvar::wait_until_internal@a < \
                tokio::runtime::blocking::pool::Inner::run@a";
    assert_eq!(wait_of(idle), Some((WaitKind::Idle, "tokio blocking worker")));
}

#[test]
fn without_a_frame_of_the_program_the_place_is_what_was_called() {
    let java = "pthread_cond_wait@libc.so.6 < os::PlatformEvent::park()@libjvm.so < \
                ObjectMonitor::EnterI(JavaThread*)@libjvm.so < \
                ObjectSynchronizer::enter(Handle, BasicLock*, JavaThread*)@libjvm.so < @";
    let python = "pthread_cond_timedwait@libc.so.6 < @python3.11 < @python3.11 < \
                  PyEval_RestoreThread@python3.11 < @python3.11";
    for (frames, kind, own) in
        [(java, WaitKind::Mutex, 3), (python, WaitKind::GlobalInterpreterLock, 3)]
    {
        let found = waiter(&stack(frames)).expect("it waits");
        assert_eq!((found.kind, found.own, found.parks), (kind, own, true), "{frames}");
    }
}

#[test]
fn what_parks_threads_says_least() {
    let pool = "Parker::park(bool, long)@libjvm.so < Unsafe_Park@libjvm.so < \
                java.lang.Runnable java.util.concurrent.ThreadPoolExecutor.getTask()@";
    assert_eq!(wait_of(pool), Some((WaitKind::Idle, "Java pool's worker")));
    let spins = "core::hint::spin_loop@a < std::sys::sync::mutex::futex::Mutex::spin@a < \
                 std::sys::sync::mutex::futex::Mutex::lock_contended@a < a::work@a";
    assert_eq!(wait_of(spins), Some((WaitKind::Mutex, "Rust std::sync::Mutex")));
    assert_eq!(
        wait_of("core::hint::spin_loop@a < a::work@a"),
        Some((WaitKind::Spin, "a spin loop"))
    );
}

#[test]
fn what_is_not_known_is_not_guessed() {
    assert_eq!(wait_of("syscall@libc.so.6 < my_lock@a < main@a"), None);
    assert_eq!(wait_of("@a < @a < main@a"), None);
    assert_eq!(waiter(&[]), None);
    // Somebody else's class of the same name as a virtual machine's.
    let own = "pthread_mutex_lock@libc.so.6 < Mutex::lock()@a < main@a";
    assert_eq!(
        waiter(&stack(own)).map(|found| (found.what, found.own)),
        Some(("pthread mutex", 1))
    );
    assert_eq!(
        wait_of("pthread_mutex_lock@libc.so.6 < Mutex::lock()@libjvm.so"),
        Some((WaitKind::Mutex, "a lock of the Java machine"))
    );
}

#[test]
fn every_pattern_can_be_met() {
    for table in TABLES {
        for entry in table.entries() {
            let pattern = entry.pattern;
            let sample = pattern.trim_start_matches('=').split('~').next().expect("one part");
            // Go's receivers have stars of their own.
            let sample = sample.replace('*', "x").replace(".(x", ".(*");
            // A pattern that `plain` changes would never fit anything.
            let is_raw = pattern.starts_with('=');
            assert!(is_raw || plain(&sample) == sample, "{pattern}: {}", plain(&sample));
        }
    }
}

proptest! {
    #[test]
    fn any_functions_are_looked_at(
        names in proptest::collection::vec(("[ -~é]{0,30}", "[a-z.]{0,8}"), 0..20),
    ) {
        let frames: Vec<Frame> = names
            .into_iter()
            .map(|(function, module)| Frame { function, module, offset: 0, line: None })
            .collect();
        if let Some(found) = waiter(&frames) {
            prop_assert!(found.own < frames.len().max(1));
        }
        prop_assert!(own_frame(&frames) <= frames.len());
    }
}
