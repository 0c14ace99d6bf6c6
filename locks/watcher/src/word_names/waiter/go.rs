//! Go: the runtime's own locks and idle threads, and what goroutines wait for.
//!
//! A goroutine that waits gives up its thread, which looks for other work. So a thread's stack hardly
//! ever tells of a `sync.Mutex`: it says that the thread is idle, or that it waits for a lock of the
//! runtime. The rows for goroutines serve stacks of goroutines, and samples on the processor.

use super::kind::WaitKind::{Channel, Condition, Idle, Join, Mutex, Once, ReadWrite, Semaphore};
use super::table::{Entry, decisive, library, parked, wait};

/// The runtime of all versions that sleep on futexes.
pub(super) const TABLE: &[Entry] = &[
    decisive("runtime.lock2", Mutex, "a lock of Go's runtime"),
    decisive("runtime.lock", Mutex, "a lock of Go's runtime"),
    decisive("runtime.lockWithRank*", Mutex, "a lock of Go's runtime"),
    decisive("runtime.(*mutex).lock", Mutex, "a lock of Go's runtime"),
    decisive(
        "runtime.(*rwmutex).*lock",
        ReadWrite,
        "a lock of Go's runtime for readers and writers",
    ),
    // Since Go 1.24, the waiters of the runtime's locks sleep on a word of their thread.
    parked("runtime.semasleep", Idle, "Go's runtime").vaguely(),
    parked("runtime.mPark", Idle, "Go: no goroutine to run"),
    wait("runtime.stopm", Idle, "Go: no goroutine to run"),
    decisive("runtime.gcstopm", Idle, "Go stop-the-world"),
    wait("runtime.stoplockedm", Idle, "Go: no goroutine to run"),
    wait("runtime.startlockedm", Idle, "Go: no goroutine to run"),
    wait("runtime.findRunnable", Idle, "Go: no goroutine to run"),
    wait("runtime.findrunnable", Idle, "Go: no goroutine to run"),
    wait("runtime.netpoll", Idle, "Go: no goroutine to run"),
    wait("runtime.epollwait", Idle, "Go: no goroutine to run"),
    wait("internal/runtime/syscall.EpollWait", Idle, "Go: no goroutine to run"),
    wait("runtime.sysmon", Idle, "Go's monitor thread"),
    wait("runtime.templateThread", Idle, "Go's runtime"),
    decisive("runtime.forEachP*", Idle, "Go stop-the-world"),
    decisive("runtime.stopTheWorld*", Idle, "Go stop-the-world"),
    decisive("runtime.suspendG", Idle, "Go stop-the-world"),
    decisive("runtime.gcMarkDone*", Idle, "Go garbage collection"),
    decisive("runtime.gcMarkTermination*", Idle, "Go garbage collection"),
    wait("runtime.notesleep", Idle, "Go's runtime").vaguely(),
    wait("runtime.notetsleep*", Idle, "Go's runtime").vaguely(),
    wait("os/signal.signal_recv", Idle, "Go signal handler"),
    wait("runtime.usleep", Idle, "Go's runtime"),
    wait("runtime.osyield", Mutex, "a lock of Go's runtime"),
    wait("runtime.procyield", Mutex, "a lock of Go's runtime"),
    // Goroutines.
    parked("sync.(*Mutex).*", Mutex, "Go sync.Mutex"),
    parked("internal/sync.(*Mutex).*", Mutex, "Go sync.Mutex"),
    parked("sync.(*RWMutex).*", ReadWrite, "Go sync.RWMutex"),
    parked("sync.(*WaitGroup).Wait", Join, "Go sync.WaitGroup"),
    parked("sync.(*Cond).Wait", Condition, "Go sync.Cond"),
    parked("sync.(*Once).*", Once, "Go sync.Once"),
    parked("sync.runtime_SemacquireRWMutex*", ReadWrite, "Go sync.RWMutex"),
    parked("sync.runtime_SemacquireMutex", Mutex, "Go sync.Mutex"),
    parked("internal/sync.runtime_SemacquireMutex", Mutex, "Go sync.Mutex"),
    parked("sync.runtime_Semacquire*", Semaphore, "Go semaphore"),
    parked("sync.runtime_notifyListWait", Condition, "Go sync.Cond"),
    parked("runtime.semacquire*", Semaphore, "Go semaphore"),
    parked("runtime.semrelease*", Semaphore, "Go semaphore"),
    parked("runtime.notifyListWait", Condition, "Go sync.Cond"),
    parked("runtime.chanrecv*", Channel, "Go channel"),
    parked("runtime.chansend*", Channel, "Go channel"),
    parked("runtime.selectgo", Channel, "Go select"),
    parked("runtime.block", Channel, "Go select"),
    parked("runtime.netpollblock", Channel, "Go network"),
    parked("internal/poll.(*fdMutex).*", Mutex, "Go file's lock"),
    parked("internal/poll.*", Channel, "Go network"),
    wait("time.Sleep", Idle, "Go time.Sleep"),
    parked("golang.org/x/sync/semaphore.*", Semaphore, "Go semaphore"),
    library("golang.org/x/sync/*"),
    library("sync.*"),
    library("internal/sync.*"),
    library("sync/atomic.*"),
    library("internal/runtime/*"),
    library("runtime/internal/*"),
    library("runtime.*"),
];
