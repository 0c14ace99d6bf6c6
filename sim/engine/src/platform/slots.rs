//! The waiting slots and the reader slots of the simulations of a host thread.

use kilocore_platform::{Atomic, Padded, READER_SLOTS, WAIT_SLOTS};

use super::words::{SimU32, SimUsize};

thread_local! {
    /// The slots serve one simulation after the other. They are leaked, as the platform's contract
    /// asks for slots that live for ever.
    static SLOTS: &'static [Padded<SimU32>] =
        Box::leak((0..WAIT_SLOTS).map(|_| Padded(SimU32::new(0))).collect());

    /// Likewise. They begin with a cache line, so that the same slots share one in each run.
    static READERS: &'static Padded<[SimUsize; READER_SLOTS]> =
        Box::leak(Box::new(Padded(std::array::from_fn(|_| SimUsize::new(0)))));
}

pub(super) fn wait_slots() -> &'static [Padded<SimU32>] {
    SLOTS.with(|slots| *slots)
}

pub(super) fn reader_slots() -> &'static [SimUsize] {
    READERS.with(|slots| &***slots)
}

/// Sees to it that this host thread has its slots, which outlive any simulation.
pub(crate) fn prepare_slots() {
    wait_slots();
    reader_slots();
}

/// Clears what an earlier simulation on this host thread may have left in the slots.
pub(crate) fn reset_slots() {
    for slot in reader_slots() {
        slot.reset();
    }
    for slot in wait_slots() {
        slot.0.reset();
    }
}
