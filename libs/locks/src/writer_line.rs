//! How writers wait for a read-write lock of one word: in the order of arrival, and only the first of them
//! watches the word.

use kilocore_platform::Platform;

use crate::gate::{Gate, WRITERS_GATE};
use crate::{RawLock, Requester};

/// Enters as a writer by `take`, in the order of arrival: behind others in `line`, whose first alone waits
/// at the gate while the lock with this key is `shut` to writers.
pub(crate) fn enter_in_line<P: Platform>(
    line: &Requester<P>,
    key: usize,
    take: impl Fn() -> bool,
    shut: impl Fn() -> bool,
) {
    P::patiently(|| {
        line.acquire(&mut ());
        while !take() {
            Gate::<P>::of(key, WRITERS_GATE).wait_while(&shut);
        }
    });
    // SAFETY: acquired above.
    unsafe { line.release(&mut ()) };
}
