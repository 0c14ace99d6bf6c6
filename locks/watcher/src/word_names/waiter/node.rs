//! Node.js: V8's and libuv's threads.

use super::kind::WaitKind::{Condition, Idle, Mutex, ReadWrite, Semaphore};
use super::table::{Entry, library, wait};

/// libuv's functions are wrappers around pthread's.
pub(super) const TABLE: &[Entry] = &[
    wait("uv_mutex_lock", Mutex, "pthread mutex (libuv)"),
    wait("uv_rwlock_*lock", ReadWrite, "pthread read-write lock (libuv)"),
    wait("uv_cond_wait", Condition, "pthread condition variable (libuv)"),
    wait("uv_cond_timedwait", Condition, "pthread condition variable (libuv)"),
    wait("uv_sem_wait", Semaphore, "POSIX semaphore (libuv)"),
    wait("uv_run", Idle, "Node.js event loop"),
    wait("uv__io_poll", Idle, "Node.js event loop"),
    wait("node::*PlatformWorkerThread*", Idle, "Node.js worker"),
    wait("node::TaskQueue::BlockingPop", Idle, "Node.js worker"),
    wait("node::WorkerThreadsTaskRunner::*", Idle, "Node.js worker"),
    wait("v8::base::Mutex::Lock", Mutex, "pthread mutex (V8)"),
    wait("v8::base::RecursiveMutex::Lock", Mutex, "pthread mutex (V8)"),
    wait("v8::base::SharedMutex::*", ReadWrite, "pthread read-write lock (V8)"),
    wait("v8::base::ConditionVariable::*", Condition, "pthread condition variable (V8)"),
    wait("v8::base::Semaphore::*", Semaphore, "POSIX semaphore (V8)"),
    wait("v8::internal::FutexEmulation::*", Condition, "JavaScript Atomics.wait"),
    library("Builtin:*"),
    library("BytecodeHandler:*"),
];
