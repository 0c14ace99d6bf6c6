//! Who called whom in the thread that runs, and places in the code as the simulator is told of them.
//!
//! Each call stores its return address, and each return loads one, so both have a callback in any case (`accesses.rs`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::StackCall;
use kilocore_qemu_plugin::frames::Frames;
use kilocore_sim::{Guest, Place};

use crate::site::Site;

/// The calls that a place has, at most: the innermost ones.
const CALLS: usize = 12;
/// Places that are told apart. Of further ones only the address counts.
const MOST_PLACES: usize = 1 << 16;
/// The bit of places that are numbers of some that are kept here. Others are addresses.
const KEPT: u64 = 1 << 63;

/// The calls of the thread that runs.
static CURRENT: AtomicPtr<RefCell<Frames>> = AtomicPtr::new(ptr::null_mut());
/// Where the thread that runs calls the system.
static SYSTEM: AtomicU64 = AtomicU64::new(0);
/// Where the thread that runs did something last that concerned the simulator.
static AT: AtomicU64 = AtomicU64::new(0);

/// An instruction, and the calls that led there, the innermost first. Those that are not known are 0.
type Kept = [u64; CALLS + 1];

static PLACES: Mutex<Option<Places>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Places {
    numbers: HashMap<Kept, u64>,
    all: Vec<Kept>,
}

/// A thread goes on.
pub(crate) fn goes_on(of: &RefCell<Frames>) {
    CURRENT.store(ptr::from_ref(of).cast_mut(), Ordering::Relaxed);
}

/// The thread that ran ends.
pub(crate) fn stop() {
    CURRENT.store(ptr::null_mut(), Ordering::Relaxed);
}

#[inline(always)]
fn current<'a>() -> Option<&'a RefCell<Frames>> {
    // SAFETY: those of the thread that runs, which is the caller's own, and lives as long as the thread is a task.
    unsafe { CURRENT.load(Ordering::Relaxed).as_ref() }
}

/// The instruction at `code` is a call that has stored at `place` where it returns to.
pub(crate) fn call(place: u64, code: u64) {
    if let Some(frames) = current() {
        frames.borrow_mut().call(place, code);
    }
}

/// A function returns to where its call has stored it at `place`.
pub(crate) fn end(place: u64) {
    if let Some(frames) = current() {
        frames.borrow_mut().end(place);
    }
}

/// The thread that runs calls the system at this address next.
pub(crate) fn calls_system(address: u64) {
    SYSTEM.store(address, Ordering::Relaxed);
}

/// Where the thread that runs calls the system. It is there now.
pub(crate) fn system() -> Place {
    let address = SYSTEM.load(Ordering::Relaxed);
    AT.store(address, Ordering::Relaxed);
    with_calls(Place(address))
}

/// The thread that runs is at an instruction that concerns the simulator.
pub(crate) fn is_at(guest: &Guest, site: &Site) {
    AT.store(site.address(), Ordering::Relaxed);
    guest.is_at(Place(site.address()));
}

/// Where the thread that runs did something last that concerned the simulator.
pub(crate) fn at() -> u64 {
    AT.load(Ordering::Relaxed)
}

/// All calls that the thread that runs is in, as far as they are remembered, and an address.
pub(crate) fn outermost_first(address: u64) -> Vec<u64> {
    let mut all = vec![address];
    if let Some(frames) = current() {
        let frames = frames.borrow();
        all.extend(frames.calls());
        if frames.are_cut() {
            all.push(StackCall::FORGOTTEN);
        }
    }
    all.reverse();
    all
}

fn places() -> MutexGuard<'static, Option<Places>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place at which the thread that runs is, with the calls that led there.
pub(crate) fn with_calls(place: Place) -> Place {
    let Place(address) = place;
    if place == Place::OTHER || address & KEPT != 0 {
        return place;
    }
    let mut kept = [0; CALLS + 1];
    kept[0] = address;
    if let Some(frames) = current() {
        kept[1..].iter_mut().zip(frames.borrow().calls()).for_each(|(to, call)| *to = call);
    }
    let mut places = places();
    let Places { numbers, all } = places.get_or_insert_default();
    if let Some(&number) = numbers.get(&kept) {
        return Place(KEPT | number);
    }
    if all.len() == MOST_PLACES {
        return place;
    }
    let number = all.len() as u64;
    numbers.insert(kept, number);
    all.push(kept);
    Place(KEPT | number)
}

/// The address of a place, and those of the calls that led there, as far as they are known.
pub(crate) fn addresses(Place(place): Place) -> Vec<u64> {
    if place & KEPT == 0 {
        return vec![place];
    }
    let places = places();
    let all = places.as_ref().map_or(&[][..], |places| &places.all);
    let kept = usize::try_from(place & !KEPT).ok().and_then(|number| all.get(number));
    kept.map_or_else(Vec::new, |kept| kept.iter().copied().take_while(|it| *it != 0).collect())
}
