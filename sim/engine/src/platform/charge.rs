//! How a task pays for its accesses, in simulated order.

use crate::charging::Turn;
use crate::coherence::Access;
use crate::current::{suspend, with_engine};
use crate::ids::LineId;
use crate::referring::TooEarly;
use crate::state::Intent;

/// Charges for an access to the line at `address`, in simulated order.
#[inline]
pub(crate) fn charge(address: usize, access: Access) {
    match with_engine(|engine| engine.access_privately(address, access)).flatten() {
        None => {}
        Some(Turn::Line(line)) => charge_in_order(line, access),
        Some(Turn::Reference(TooEarly)) => refer_in_order(address, access),
    }
}

// Out of line, as private accesses are the most frequent and go through less code without it.
#[inline(never)]
fn charge_in_order(line: LineId, access: Access) {
    give_way_to_earlier();
    with_engine(|engine| engine.access(line, access));
}

#[inline(never)]
fn refer_in_order(address: usize, access: Access) {
    give_way_to_earlier();
    with_engine(|engine| engine.refer(address, access));
}

/// Lets everything happen that is earlier than the current core's time.
pub(crate) fn give_way_to_earlier() {
    while with_engine(|engine| engine.must_give_way()) == Some(true) {
        suspend(Intent::Continue);
    }
}
