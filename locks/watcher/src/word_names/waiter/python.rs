//! CPython: the lock that its threads share, and the locks of its modules.

use kilocore_lock_profile::Frame;

use super::files::{base, is_interpreter};
use super::kind::WaitKind::{
    self, Channel, Condition, GlobalInterpreterLock, Idle, Join, Mutex, ReadWrite,
};
use super::table::{Entry, decisive, library, parked, wait};

const GIL: &str = "Python's global interpreter lock";

/// The interpreter's functions, from 3.6 to 3.14. Since 3.13 its locks park threads on words of
/// their own.
pub(super) const TABLE: &[Entry] = &[
    decisive("take_gil", GlobalInterpreterLock, GIL).parks(),
    decisive("drop_gil", GlobalInterpreterLock, GIL).parks(),
    wait("PyCOND_*WAIT*", Condition, "Python's internal condition"),
    wait("PyThread_acquire_lock*", Mutex, "Python lock"),
    wait("lock_PyThread_acquire_lock", Mutex, "Python threading.Lock"),
    wait("rlock_acquire*", Mutex, "Python threading.RLock"),
    wait("queue_SimpleQueue_get*", Channel, "Python queue.SimpleQueue"),
    wait("PyMutex_Lock*", Mutex, "Python internal mutex"),
    wait("PyRecursiveMutex_Lock*", Mutex, "Python threading.RLock"),
    wait("PyRWMutex_*", ReadWrite, "Python internal read-write lock"),
    parked("PyParkingLot_Park", Mutex, "Python lock").vaguely(),
    wait("PyEvent_Wait*", Condition, "Python's internal event"),
    wait("ThreadHandle_join", Join, "Python Thread.join"),
    wait("PyThreadHandleObject_join", Join, "Python Thread.join"),
    wait("PyThread_join_thread", Join, "Python Thread.join"),
    wait("PySemaphore_*Wait*", Mutex, "Python lock").vaguely(),
    wait("pysleep", Idle, "Python time.sleep"),
    wait("time_sleep", Idle, "Python time.sleep"),
    library("acquire_timed"),
    library("PyEval_*"),
    library("PyObject_*"),
    library("PyThreadState_Attach"),
    library("pymain_*"),
    library("pythread_wrapper"),
    library("cfunction_vectorcall*"),
    library("method_vectorcall*"),
];

/// Recognizes the wait for the interpreter's lock in an interpreter without names, as distributions
/// ship it. The interpreter waits for a condition in a function that the loop or the exported
/// functions to take the lock have called; nothing else that they call does that directly. Returns which of
/// the frames this caller is, and what it waits for.
pub(super) fn unnamed_gil(
    found: Option<WaitKind>,
    frames: &[Frame],
) -> Option<(usize, WaitKind, &'static str)> {
    if found != Some(Condition) {
        return None;
    }
    const CALLERS: &[&str] = &[
        "_PyEval_EvalFrameDefault",
        "PyEval_RestoreThread",
        "PyEval_AcquireThread",
        "PyEval_AcquireLock",
        "PyGILState_Ensure",
        "PyThreadState_Swap",
        "_PyEval_AcquireLock",
        "_PyThreadState_Attach",
        "_Py_HandlePending",
    ];
    let is_python = |frame: &Frame| {
        let base = base(&frame.module);
        is_interpreter(base) || base.starts_with("libpython")
    };
    let inner = frames.iter().position(is_python)?;
    let takes_lock = frames[inner].function.is_empty();
    let is_caller = |frame: &Frame| !frame.function.is_empty() || !is_python(frame);
    let caller = inner + 1 + frames[inner + 1..].iter().position(is_caller)?;
    (takes_lock && CALLERS.contains(&frames[caller].function.as_str())).then_some((
        caller,
        GlobalInterpreterLock,
        GIL,
    ))
}
