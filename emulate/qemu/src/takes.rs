//! What instructions take.

use std::sync::OnceLock;

use kilocore_emulation_orders::Orders;

use crate::clock;

/// What instructions take, in parts of a cycle.
#[derive(Debug)]
pub(crate) struct Takes {
    pub(crate) instruction: u64,
    pub(crate) pause: u64,
}

/// What a turn of a loop that waits for a word has besides its pause, in instructions.
const TURN: u64 = 12;

static TAKES: OnceLock<Takes> = OnceLock::new();

/// The program begins.
pub(crate) fn begin(orders: &Orders) {
    TAKES.get_or_init(|| Takes {
        instruction: clock::parts(orders.cycles_per_instruction).max(1),
        pause: clock::parts(orders.machine.coherence.pause_cycles.value),
    });
}

/// What they take, once the program has begun.
pub(crate) fn takes() -> Option<&'static Takes> {
    TAKES.get()
}

/// What a turn of a loop takes that waits for a word, in cycles.
pub(crate) fn turn() -> u64 {
    TAKES.get().map_or(1, |takes| clock::cycles(takes.instruction * TURN + takes.pause).0.max(1))
}
