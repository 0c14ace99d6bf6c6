//! Binding of threads to processors, which are those of the simulated machine.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_sim::{CoreSet, TaskId};

use crate::call::Change;
use crate::guest::{self, Thread};
use crate::memory;

/// The most bytes of a mask that are looked at: more processors than any machine file has.
const MOST_BYTES: usize = 128;

/// The tasks of threads that the program has made, by the numbers that the kernel has given these: that of one that is gone
/// may be another one's.
static TASKS: Mutex<BTreeMap<u64, TaskId>> = Mutex::new(BTreeMap::new());

fn tasks() -> MutexGuard<'static, BTreeMap<u64, TaskId>> {
    TASKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread with this number has been made.
pub(crate) fn thread_begins(number: u64, task: TaskId) {
    tasks().insert(number, task);
}

/// The task of a thread with this number, of which 0 is the caller's own. None if it is none of the program's.
fn task(thread: &Thread, number: u64) -> Option<TaskId> {
    // SAFETY: a call without arguments.
    let first = unsafe { libc::getpid() } as u64;
    match number {
        0 => Some(thread.guest.task()),
        _ if number == first => Some(TaskId(0)),
        _ => tasks().get(&number).copied(),
    }
}

/// The program binds a thread to the processors of a mask of so many bytes. The kernel gets one that it takes, unless no
/// processor of the machine is in it.
pub(crate) fn set(thread: &Thread, [number, bytes, mask, ..]: [u64; 6]) -> Change {
    let Some(task) = task(thread, number) else { return Change::None };
    let mut words = [0_u64; MOST_BYTES / 8];
    let length = words.len().min(bytes as usize / 8);
    for (at, word) in words[..length].iter_mut().enumerate() {
        match memory::read_u64s::<1>(mask.wrapping_add(8 * at as u64)) {
            Some([read]) => *word = read,
            None => return Change::None,
        }
    }
    let cores = CoreSet::from_words(words);
    let done = guest::simulate(thread, |guest| guest.allow(task, &cores));
    let Some(was) = memory::read_u64s::<2>(mask).filter(|_| length >= 2) else {
        return Change::None;
    };
    let shown = if done { [0xff; 16] } else { [0; 16] };
    if memory::write(mask, &shown) { Change::Bytes { address: mask, was } } else { Change::None }
}

/// The program has got a mask of so many bytes, of where a thread may run.
pub(crate) fn correct(thread: &Thread, [number, _, mask, ..]: [u64; 6], bytes: u64) {
    let task = task(thread, number);
    let cores = task.and_then(|task| guest::simulate(thread, |guest| guest.allowed(task)));
    if let Some(cores) = cores {
        let words = cores.words().iter().flat_map(|word| word.to_ne_bytes());
        let words: Vec<u8> = words.take(bytes as usize).collect();
        memory::write(mask, &words);
    }
}
