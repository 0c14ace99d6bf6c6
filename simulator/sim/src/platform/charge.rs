//! How a task pays for its accesses, in simulated order.

use crate::coherence::Access;
use crate::current::{suspend, with_engine};
use crate::ids::LineId;
use crate::state::Intent;

/// Charges for an access to the line at `address`, in simulated order.
#[inline]
pub(crate) fn charge(address: usize, access: Access) {
    let line = with_engine(|engine| engine.access_privately(address, access));
    if let Some(Some(line)) = line {
        charge_in_order(line, access);
    }
}

// Out of line, as private accesses are the most frequent and go through less code without it.
#[inline(never)]
fn charge_in_order(line: LineId, access: Access) {
    give_way_to_earlier();
    with_engine(|engine| engine.access(line, access));
}

/// Lets everything happen that is earlier than the current core's time.
pub(crate) fn give_way_to_earlier() {
    while with_engine(|engine| engine.must_give_way()) == Some(true) {
        suspend(Intent::Continue);
    }
}
