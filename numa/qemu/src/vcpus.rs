//! Which thread a processor of QEMU's stands for. In user mode each thread has a processor of its own,
//! and a number is used again when its thread has ended.

use std::cell::UnsafeCell;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::thread::Thread;
use crate::{area, traced};
use kilocore_qemu_plugin::api::PluginId;

/// Processors with a number from here on are not recorded.
const MOST: usize = 1 << 16;

/// A thread, and what keeps others out of it while it is in the system.
struct Cell {
    alone: Mutex<()>,
    thread: UnsafeCell<Thread>,
}

/// Empty until the thread executes something. Only its own thread changes a place.
static THREADS: [AtomicPtr<Cell>; MOST] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST];

/// Those of threads that have ended, for others. They are never freed, because the program may exit
/// while a thread ends.
static SPARE: Mutex<Vec<&'static Cell>> = Mutex::new(Vec::new());

// SAFETY: a cell's thread is reached under `alone`, or by code of the thread itself that nobody else runs
// at the same time, as `recorded` argues.
unsafe impl Sync for Cell {}

/// Stands in the place of a thread that is not recorded.
fn nobody() -> *mut Cell {
    core::ptr::dangling_mut()
}

#[inline(always)]
fn cell(vcpu: c_uint) -> Option<&'static Cell> {
    let cell = THREADS.get(vcpu as usize)?.load(Ordering::Acquire);
    if cell.addr() <= nobody().addr() {
        return None;
    }
    // SAFETY: cells are never freed.
    Some(unsafe { &*cell })
}

/// The thread, if it is recorded. For callbacks of translated code only, which keep it no longer than
/// they run.
#[inline(always)]
pub(crate) fn recorded<'a>(vcpu: c_uint) -> Option<&'a mut Thread> {
    // SAFETY: only the thread itself runs translated code, so this is the only reference of that kind.
    // References under `alone` are made while the thread is in the system, or by `at_exit`, which QEMU
    // calls when no thread runs translated code with callbacks any more.
    cell(vcpu).map(|cell| unsafe { &mut *cell.thread.get() })
}

/// The same, for a thread that executes something, maybe its first block.
#[inline(always)]
pub(crate) fn running<'a>(vcpu: c_uint) -> Option<&'a mut Thread> {
    match recorded(vcpu) {
        None => begin(vcpu),
        some => some,
    }
}

#[cold]
#[inline(never)]
fn begin<'a>(vcpu: c_uint) -> Option<&'a mut Thread> {
    let place = THREADS.get(vcpu as usize)?;
    if !place.load(Ordering::Relaxed).is_null() {
        return None;
    }
    let Some(thread) = Thread::begin() else {
        place.store(nobody(), Ordering::Relaxed);
        return None;
    };
    let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let cell: &'static Cell = match spare {
        Some(cell) => {
            let _alone = cell.alone.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: nobody else knows a spare cell, except for `at_exit` of a moment ago, which is kept
            // out.
            unsafe { *cell.thread.get() = thread };
            cell
        }
        None => Box::leak(Box::new(Cell { alone: Mutex::new(()), thread: thread.into() })),
    };
    place.store(core::ptr::from_ref(cell).cast_mut(), Ordering::Release);
    recorded(vcpu)
}

/// Calls this with the thread, if it is recorded. For callbacks around system calls.
pub(crate) fn in_system(vcpu: c_uint, call: impl FnOnce(&mut Thread)) {
    if let Some(cell) = cell(vcpu) {
        alone(cell, call);
    }
}

fn alone(cell: &Cell, call: impl FnOnce(&mut Thread)) {
    let _alone = cell.alone.lock().unwrap_or_else(PoisonError::into_inner);
    if !area::is_over() {
        // SAFETY: whoever else would make a reference waits for `alone`, or runs translated code of this
        // thread, which does not run now: the thread is in the system, or the program exits.
        call(unsafe { &mut *cell.thread.get() });
    }
}

/// The thread is about to end.
pub(crate) fn end(vcpu: c_uint) {
    let Some(cell) = cell(vcpu) else { return };
    alone(cell, Thread::end);
    THREADS[vcpu as usize].store(core::ptr::null_mut(), Ordering::Release);
    SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(cell);
}

/// The program exits. Its other threads may be in the system.
pub(crate) extern "C" fn at_exit(_: PluginId, _: *mut c_void) {
    let Some(shared) = area::shared() else { return };
    let mut tells = traced::is_on();
    for vcpu in 0..MOST as c_uint {
        in_system(vcpu, |thread| {
            thread.finish();
            if std::mem::take(&mut tells) {
                thread.tell_locks();
            }
        });
    }
    area::end();
    shared.header().finished.store(1, Ordering::Release);
}

/// Sees to it that a process that the program forks does not write into its parent's rings.
pub(crate) fn forget_in_children() -> Result<(), String> {
    unsafe extern "C" fn in_child() {
        area::end();
        for place in &THREADS {
            if !place.load(Ordering::Relaxed).is_null() {
                place.store(nobody(), Ordering::Relaxed);
            }
        }
    }
    // SAFETY: a function that only uses atomics.
    match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
        0 => Ok(()),
        _ => Err("there is no memory".to_owned()),
    }
}
