//! When a core's list is refilled and when it spills, and by how much.

use core::fmt::Debug;

/// How one kind of pool sizes the lists of its cores. The lists themselves are the same for all
/// ([`PerCore`](crate::PerCore)).
pub trait Rule: Debug + Send + Sync + 'static {
    /// What is kept for each core.
    type State: Copy + Default + Debug + Send + Sync + 'static;

    /// Returns the largest number of frames that a list ever has.
    fn room(&self) -> u32;

    /// A frame was taken from a list, or is to be taken as soon as the list is refilled.
    fn on_allocate(&self, state: &mut Self::State);

    /// Returns how many frames to refill an empty list with: at least one, at most
    /// [`room`](Self::room).
    fn refill(&self, state: &mut Self::State) -> u32;

    /// A frame was put on a list, which has `len` frames now. Returns how many of the oldest have to go.
    /// With [`room`](Self::room) frames at least one has to go.
    fn on_release(&self, state: &mut Self::State, len: u32) -> u32;

    /// Time has passed, which a kernel notices some times in a second. Returns how many of the oldest
    /// frames have to go.
    fn on_tick(&self, state: &mut Self::State, len: u32) -> u32 {
        let _ = (state, len);
        0
    }
}
