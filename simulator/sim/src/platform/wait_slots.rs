//! The waiting slots of the simulations of a host thread.

use kilocore_platform::{Atomic, Padded, WAIT_SLOTS};

use super::words::SimU32;

thread_local! {
    /// The slots serve one simulation after the other. They are leaked, as the platform's contract
    /// asks for slots that live for ever.
    static SLOTS: &'static [Padded<SimU32>] =
        Box::leak((0..WAIT_SLOTS).map(|_| Padded(SimU32::new(0))).collect());
}

pub(super) fn wait_slots() -> &'static [Padded<SimU32>] {
    SLOTS.with(|slots| *slots)
}

/// Sees to it that this host thread has its waiting slots, which outlive any simulation.
pub(crate) fn prepare_wait_slots() {
    wait_slots();
}

/// Clears what an earlier simulation on this host thread may have left in the waiting slots.
pub(crate) fn reset_wait_slots() {
    for slot in wait_slots() {
        slot.0.reset();
    }
}
