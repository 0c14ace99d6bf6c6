//! Servers with locks of their own: PostgreSQL, MySQL and MariaDB, nginx, and others.

use super::kind::WaitKind::{self, Condition, Idle, Mutex, ReadWrite, Semaphore, Spin};
use super::table::{Entry, decisive, library, parked, wait};

/// PostgreSQL's processes sleep on a semaphore that each has for itself.
const fn postgres(pattern: &'static str, kind: WaitKind, what: &'static str) -> Entry {
    decisive(pattern, kind, what).parks()
}

/// The functions by which the processes of PostgreSQL wait.
pub(super) const POSTGRESQL: &[Entry] = &[
    parked("PGSemaphoreLock", Semaphore, "PostgreSQL semaphore"),
    postgres("LWLockAcquire*", ReadWrite, "PostgreSQL LWLock"),
    postgres("LWLockWait*", ReadWrite, "PostgreSQL LWLock"),
    postgres("ProcSleep", Mutex, "PostgreSQL heavyweight lock"),
    postgres("LockAcquire*", Mutex, "PostgreSQL heavyweight lock"),
    postgres("LockBufferForCleanup", Condition, "PostgreSQL buffer pin"),
    postgres("ProcArrayGroupClearXid", Condition, "PostgreSQL group commit"),
    parked("ConditionVariableSleep", Condition, "PostgreSQL condition variable"),
    parked("ConditionVariableTimedSleep", Condition, "PostgreSQL condition variable"),
    decisive("s_lock", Spin, "PostgreSQL spin lock"),
    decisive("perform_spin_delay", Spin, "PostgreSQL spin lock"),
    library("WaitEventSetWait*"),
    library("WaitLatch*"),
    wait("pg_usleep", Idle, "sleep"),
];

/// MySQL and MariaDB: the storage engine InnoDB, and the server around it.
pub(super) const MYSQL: &[Entry] = &[
    decisive("TTASEventMutex::*", Mutex, "InnoDB mutex"),
    decisive("TTASFutexMutex::*", Mutex, "InnoDB mutex"),
    decisive("TTASMutex::*", Spin, "InnoDB mutex"),
    decisive("OSTrackMutex::*", Mutex, "InnoDB mutex"),
    decisive("PolicyMutex::*", Mutex, "InnoDB mutex"),
    wait("sync_array_wait_event", Mutex, "InnoDB latch"),
    decisive("rw_lock_*", ReadWrite, "InnoDB read-write lock"),
    decisive("pfs_rw_lock_*", ReadWrite, "InnoDB read-write lock"),
    decisive("ssux_lock*", ReadWrite, "InnoDB read-write lock"),
    decisive("srw_lock*", ReadWrite, "InnoDB read-write lock"),
    decisive("srw_mutex*", Mutex, "InnoDB mutex"),
    decisive("sux_lock*", ReadWrite, "InnoDB read-write lock"),
    decisive("lock_wait_suspend_thread", Mutex, "InnoDB row lock"),
    decisive("lock_wait", Mutex, "InnoDB row lock"),
    wait("os_event::*", Condition, "InnoDB event"),
    wait("os_event_wait*", Condition, "InnoDB event"),
    decisive("MDL_context::acquire_lock*", Mutex, "MySQL metadata lock"),
    wait("MDL_wait::timed_wait", Mutex, "MySQL metadata lock"),
    wait("Per_thread_connection_handler::block_until_new_connection", Idle, "MySQL thread cache"),
    wait("cache_thread", Idle, "MySQL thread cache"),
    wait("inline_mysql_cond_*", Condition, "pthread condition variable"),
    wait("safe_cond_*", Condition, "pthread condition variable"),
    wait("safe_mutex_lock", Mutex, "pthread mutex"),
    wait("my_cond_timedwait", Condition, "pthread condition variable"),
    library("inline_mysql_*"),
    library("psi_*"),
    library("my_mutex_lock"),
];

/// Servers and libraries whose names say whose they are.
pub(super) const OTHERS: &[Entry] = &[
    decisive("ngx_shmtx_lock", Mutex, "nginx shared mutex"),
    decisive("ngx_rwlock_*lock", Spin, "nginx read-write lock"),
    decisive("ngx_spinlock", Spin, "nginx spinlock"),
    wait("ngx_thread_mutex_lock", Mutex, "nginx mutex"),
    wait("ngx_thread_pool_cycle", Idle, "nginx thread pool"),
    wait("mi_*", Mutex, "mimalloc"),
    decisive("rocksdb::port::Mutex::Lock", Mutex, "RocksDB mutex"),
    decisive("rocksdb::InstrumentedMutex::Lock", Mutex, "RocksDB mutex"),
    decisive("rocksdb::port::RWMutex::*", ReadWrite, "RocksDB read-write lock"),
    wait("rocksdb::InstrumentedCondVar::*", Condition, "RocksDB condition"),
    wait("rocksdb::ThreadPoolImpl::*", Idle, "RocksDB worker"),
];
