//! Rust's common crates that synchronize.

use super::kind::WaitKind::{
    self, Barrier, Channel, Condition, Idle, Join, Mutex, Once, ReadWrite, Semaphore, Spin,
};
use super::table::{Entry, decisive, library, parked, wait};

/// A lock whose waiters sleep on words of their own.
const fn parked_lock(pattern: &'static str, kind: WaitKind, what: &'static str) -> Entry {
    decisive(pattern, kind, what).parks()
}

/// The functions of these crates that wait.
pub(super) const TABLE: &[Entry] = &[
    parked_lock("parking_lot::raw_mutex::*", Mutex, "parking_lot::Mutex"),
    parked_lock("parking_lot::raw_fair_mutex::*", Mutex, "parking_lot::FairMutex"),
    parked_lock("parking_lot::raw_rwlock::*", ReadWrite, "parking_lot::RwLock"),
    parked("parking_lot::condvar::*", Condition, "parking_lot::Condvar"),
    parked_lock("parking_lot::once::*", Once, "parking_lot::Once"),
    parked_lock("dashmap::lock::*", ReadWrite, "dashmap shard"),
    parked("parking_lot_core::*", Mutex, "parking_lot").vaguely(),
    library("parking_lot::*"),
    library("lock_api::*"),
    library("dashmap::*"),
    parked("crossbeam_channel::*", Channel, "crossbeam channel"),
    wait("crossbeam_utils::sync::wait_group::*", Barrier, "crossbeam WaitGroup"),
    wait("crossbeam_utils::sync::sharded_lock::*", ReadWrite, "crossbeam ShardedLock"),
    wait("crossbeam_utils::sync::parker::*", Idle, "crossbeam Parker").vaguely(),
    wait("crossbeam_utils::thread::scope*", Join, "crossbeam scope"),
    library("crossbeam*"),
    wait("flume::*", Channel, "flume channel"),
    wait("async_channel::*", Channel, "async_channel"),
    wait("once_cell::*", Once, "once_cell"),
    wait("rayon_core::latch::LockLatch::*", Join, "rayon join from outside"),
    wait("rayon_core::sleep::*", Idle, "rayon worker"),
    wait("rayon_core::registry::WorkerThread::wait_until*", Idle, "rayon worker"),
    library("rayon_core::*"),
    library("rayon::*"),
    wait("tokio::runtime::park::*", Idle, "tokio block_on"),
    decisive("tokio::runtime::scheduler::*", Idle, "tokio worker"),
    wait("tokio::runtime::io::driver::*", Idle, "tokio worker"),
    wait("tokio::runtime::blocking::pool::*", Idle, "tokio blocking worker"),
    wait("tokio::sync::batch_semaphore::*", Semaphore, "tokio semaphore"),
    library("tokio::*"),
    library("mio::*"),
    wait("futures_executor::*", Idle, "futures executor"),
    wait("async_io::*", Idle, "async-io executor"),
    library("async_executor::*"),
    library("async_task::*"),
    decisive("spin::*", Spin, "spin::Mutex"),
];
