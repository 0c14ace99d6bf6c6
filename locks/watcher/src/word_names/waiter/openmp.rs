//! OpenMP: GNU's libgomp, and LLVM's and Intel's libomp.

use kilocore_lock_profile::Frame;

use super::files::base;
use super::kind::WaitKind::{self, Barrier, Idle, Mutex, Semaphore};
use super::table::{Entry, decisive, library, wait};

const CRITICAL: &str = "OpenMP critical section";
const LOCK: &str = "OpenMP lock";
const BARRIER: &str = "OpenMP barrier";
const REGION: &str = "end of an OpenMP parallel region";
const WORKER: &str = "OpenMP worker";

/// libgomp as distributions ship it has only the names that begin with `GOMP_` and `omp_`.
pub(super) const TABLE: &[Entry] = &[
    decisive("GOMP_critical_*start", Mutex, CRITICAL),
    decisive("GOMP_atomic_start", Mutex, "OpenMP atomic"),
    decisive("GOMP_ordered_start", Semaphore, "OpenMP ordered"),
    decisive("gomp_ordered_*", Semaphore, "OpenMP ordered"),
    decisive("omp_set_lock*", Mutex, LOCK),
    decisive("omp_set_nest_lock*", Mutex, LOCK),
    decisive("gomp_set_lock*", Mutex, LOCK),
    decisive("gomp_set_nest_lock*", Mutex, LOCK),
    wait("gomp_mutex_lock*", Mutex, "OpenMP lock"),
    wait("gomp_ptrlock_get*", Mutex, "OpenMP lock"),
    wait("gomp_sem_wait*", Semaphore, "OpenMP runtime's semaphore"),
    wait("gomp_barrier_wait*", Barrier, BARRIER),
    wait("gomp_team_barrier_wait*", Barrier, BARRIER),
    wait("gomp_barrier_handle_tasks", Barrier, BARRIER),
    wait("GOMP_barrier*", Barrier, BARRIER),
    wait("GOMP_taskwait*", Barrier, "OpenMP taskwait"),
    wait("GOMP_taskgroup_end", Barrier, "OpenMP taskgroup"),
    wait("gomp_team_end", Barrier, REGION),
    wait("gomp_team_start", Barrier, "start of an OpenMP parallel region"),
    wait("GOMP_parallel*", Barrier, REGION),
    wait("GOMP_loop_end*", Barrier, "end of an OpenMP loop"),
    wait("GOMP_sections_end*", Barrier, "end of OpenMP sections"),
    wait("GOMP_single_copy_start", Barrier, "OpenMP single"),
    wait("gomp_simple_barrier_wait", Idle, WORKER),
    wait("gomp_thread_start", Idle, WORKER),
    library("gomp_*"),
    library("GOMP_*"),
    // libomp.
    decisive("kmpc_critical*", Mutex, CRITICAL),
    decisive("kmpc_set_lock", Mutex, LOCK),
    decisive("kmpc_set_nest_lock", Mutex, LOCK),
    decisive("kmpc_reduce*", Mutex, "OpenMP reduction"),
    wait("kmp_acquire_*lock*", Mutex, LOCK),
    wait("kmp_acquire_*", Mutex, LOCK),
    wait("kmpc_barrier", Barrier, BARRIER),
    wait("kmpc_ordered", Semaphore, "OpenMP ordered"),
    wait("kmpc_omp_taskwait", Barrier, "OpenMP taskwait"),
    wait("kmpc_fork_call", Barrier, REGION),
    wait("kmp_join_call", Barrier, REGION),
    wait("kmp_join_barrier*", Barrier, REGION),
    wait("kmp_barrier*", Barrier, BARRIER),
    wait("kmp_fork_barrier*", Idle, WORKER),
    wait("kmp_launch_worker*", Idle, WORKER),
    wait("kmp_launch_thread", Idle, WORKER),
    wait("kmp_suspend_*", Barrier, BARRIER),
    wait("kmp_wait_*", Barrier, BARRIER),
    wait("kmp_flag_wait*", Barrier, BARRIER),
    library("kmp*"),
];

/// What a wait in libgomp is whose functions have no names: a worker's if no frame of the program is
/// outside, and otherwise something that the program asked for.
pub(super) fn unnamed(inside: &[Frame], outside: &[Frame]) -> Option<(WaitKind, &'static str)> {
    let is_libgomp = |frame: &Frame| {
        let base = base(&frame.module);
        base.starts_with("libgomp") || base.starts_with("libomp") || base.starts_with("libiomp")
    };
    let innermost = inside.iter().find(|frame| !base(&frame.module).starts_with("libc."));
    if !innermost.is_some_and(is_libgomp) {
        return None;
    }
    Some(if outside.is_empty() { (Idle, WORKER) } else { (Mutex, LOCK) })
}
