//! Functions that wait on the processor.

use super::kind::WaitKind::{Mutex, Spin};
use super::table::{Entry, decisive, wait};

/// Spin loops, and the allocators' locks that begin with one.
pub(super) const TABLE: &[Entry] = &[
    decisive("pthread_spin_lock", Spin, "pthread spin lock"),
    decisive("s_lock", Spin, "PostgreSQL spin lock"),
    decisive("perform_spin_delay", Spin, "PostgreSQL spin lock"),
    decisive("SpinLock::SpinLoop", Spin, "tcmalloc SpinLock"),
    decisive("SpinLock::SlowLock", Spin, "tcmalloc SpinLock"),
    decisive("SpinLock::Lock", Spin, "tcmalloc SpinLock"),
    decisive("base::internal::SpinLockDelay", Spin, "tcmalloc SpinLock"),
    decisive("absl::base_internal::SpinLock::SpinLoop", Spin, "absl::SpinLock"),
    decisive("absl::base_internal::SpinLock::SlowLock", Spin, "absl::SpinLock"),
    decisive("tcmalloc::*SpinLock*", Spin, "tcmalloc SpinLock"),
    wait("je_malloc_mutex_lock*", Mutex, "jemalloc mutex"),
    wait("jemalloc_malloc_mutex_lock_slow", Mutex, "jemalloc mutex"),
    wait("malloc_mutex_lock_slow", Mutex, "jemalloc mutex"),
    wait("rjem_malloc_mutex_lock_slow", Mutex, "jemalloc mutex"),
    wait("rjem_je_malloc_mutex_lock_slow", Mutex, "jemalloc mutex"),
    wait("sync.runtime_doSpin", Mutex, "Go sync.Mutex"),
    wait("internal/sync.runtime_doSpin", Mutex, "Go sync.Mutex"),
    wait("sync.runtime_canSpin", Mutex, "Go sync.Mutex"),
    wait("runtime.procyield", Spin, "Go spinning").vaguely(),
    wait("runtime.procyieldAsm", Spin, "Go spinning").vaguely(),
    wait("runtime.osyield", Spin, "Go spinning").vaguely(),
    wait("parking_lot_core::spinwait::*", Spin, "parking_lot").vaguely(),
    wait("crossbeam_utils::backoff::*", Spin, "crossbeam backoff").vaguely(),
    decisive("spin::*", Spin, "spin::Mutex"),
    wait("core::hint::spin_loop", Spin, "a spin loop").vaguely(),
    wait("core::core_arch::x86::sse2::_mm_pause", Spin, "a spin loop").vaguely(),
    decisive("std::sys::sync::mutex::futex::Mutex::spin", Spin, "Rust std::sync::Mutex"),
    decisive("std::sys::sync::rwlock::futex::RwLock::spin_*", Spin, "Rust std::sync::RwLock"),
    wait("SpinPause", Spin, "JVM spinning").vaguely(),
    decisive("ObjectMonitor::TrySpin*", Mutex, "Java monitor"),
    wait("SpinYield::*", Spin, "JVM spinning").vaguely(),
    wait("kmp_x86_pause", Spin, "OpenMP spinning").vaguely(),
    wait("tbb::detail::d0::atomic_backoff::*", Spin, "oneTBB spinning").vaguely(),
    decisive("ngx_spinlock", Spin, "nginx spinlock"),
    decisive("ngx_shmtx_lock", Mutex, "nginx shared mutex"),
    wait("ut_delay", Spin, "InnoDB spinning").vaguely(),
];
