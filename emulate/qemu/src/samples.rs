//! Where threads compute, by samples.
//!
//! A sample is taken after so much computing of whichever threads run, a little more or less each time, so that no loop
//! of the program is in step with the samples. It is the address of the load, the store or the block at which somebody
//! looks next. All that is done for it is that the bound on how far a thread may run is nearer.

use std::sync::atomic::{AtomicU64, Ordering};

use kilocore_platform::Cycles;
use kilocore_sim::Place;

use crate::{clock, guest, stacks};

/// From one sample to the next: at least so long, and less than twice as long.
const LEAST: u64 = 340;

static RANDOM: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);

/// The thread that runs has come to a bound, at an instruction or a block with this address.
#[inline(never)]
pub(crate) fn bound(address: u64) {
    take_if_due(address);
    if clock::has_to_give_way() {
        guest::let_others_go_on();
    }
}

/// Takes a sample if it is time. The thread that runs is about to do something for which others may go on.
#[inline(always)]
pub(crate) fn take_if_due(address: u64) {
    if clock::is_sampled() {
        take(address);
    }
}

fn take(address: u64) {
    if let Some(thread) = guest::this_thread() {
        thread.guest.computes_at(Place(address));
        stacks::sample(&thread.guest, address);
    }
    clock::sample_after(Cycles(LEAST + random() % LEAST));
}

/// The next of some numbers that are the same on each run.
fn random() -> u64 {
    let mut number = RANDOM.load(Ordering::Relaxed);
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    RANDOM.store(number, Ordering::Relaxed);
    number >> 11
}
