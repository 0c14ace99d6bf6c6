//! What time it is for the thread that runs, between two looks at the simulator.
//!
//! Blocks of instructions add to one number, whichever thread executes them: inline where QEMU's interface lets them,
//! and else by a callback. That number is the time of the
//! thread that runs: it is set when the thread goes on, and the simulator is told of it when the thread does
//! something that concerns the simulator.

use std::sync::atomic::{AtomicU64, Ordering};

use kilocore_platform::Cycles;

/// Parts of a cycle: instructions of superscalar processors take less than one. So many that any number of cycles for an
/// instruction, of which people give two digits, is exact to a tenth of a per cent, and that the time of a run of a day is no
/// larger than the number has room for.
const PARTS: u64 = 1 << 16;

/// The time, in parts of a cycle. QEMU's translated code adds to it, which is no atomic operation: only one thread
/// runs at a time, but for the first instructions of one that is born, whose time does not count.
static NOW: AtomicU64 = AtomicU64::new(0);
/// The time up to which the thread may run before it has to let others go on, in parts.
static TURN: AtomicU64 = AtomicU64::new(u64::MAX);
/// How much is computed before the next sample, from when the simulator was told last, in cycles.
static UNSAMPLED: AtomicU64 = AtomicU64::new(0);
/// A time at which something happens only because of the time, in parts.
static DUE: AtomicU64 = AtomicU64::new(u64::MAX);
/// The earlier of the time up to which the thread may run and that of the next sample, in parts.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
/// The time of which the simulator knows, in cycles.
static KNOWN: AtomicU64 = AtomicU64::new(0);

/// The number to which blocks add.
pub(crate) fn address() -> *mut u64 {
    NOW.as_ptr()
}

/// So many parts pass for the thread that runs.
#[inline(always)]
pub(crate) fn pass(parts: u64) {
    NOW.store(NOW.load(Ordering::Relaxed).wrapping_add(parts), Ordering::Relaxed);
}

/// How many parts so many cycles are.
pub(crate) fn parts(cycles: f64) -> u64 {
    (cycles * PARTS as f64).round() as u64
}

/// How many cycles so many parts are.
pub(crate) fn cycles(parts: u64) -> Cycles {
    Cycles(parts / PARTS)
}

/// The time of the thread that runs.
#[inline]
pub(crate) fn now() -> Cycles {
    cycles(NOW.load(Ordering::Relaxed))
}

/// Whether the thread that runs has to let others go on, or a sample is due.
#[inline(always)]
pub(crate) fn is_over() -> bool {
    NOW.load(Ordering::Relaxed) >= LIMIT.load(Ordering::Relaxed)
}

/// Something happens at this time only because of the time. There is one such time, and the latest of [`Cycles::MAX`] is
/// none.
pub(crate) fn set_due(at: Cycles) {
    DUE.store(at.0.saturating_mul(PARTS), Ordering::Relaxed);
}

/// Whether there is a time at which something happens only because of the time.
pub(crate) fn has_due() -> bool {
    DUE.load(Ordering::Relaxed) < u64::MAX
}

/// Whether it has come.
#[inline]
pub(crate) fn is_due() -> bool {
    NOW.load(Ordering::Relaxed) >= DUE.load(Ordering::Relaxed)
}

/// Whether it has to let others go on.
pub(crate) fn has_to_give_way() -> bool {
    NOW.load(Ordering::Relaxed) >= TURN.load(Ordering::Relaxed)
}

/// Whether a sample is due.
#[inline]
pub(crate) fn is_sampled() -> bool {
    let passed = now().0.saturating_sub(KNOWN.load(Ordering::Relaxed));
    passed >= UNSAMPLED.load(Ordering::Relaxed)
}

/// The next sample is due when so much more is computed.
pub(crate) fn sample_after(time: Cycles) {
    let passed = now().0.saturating_sub(KNOWN.load(Ordering::Relaxed));
    UNSAMPLED.store(passed + time.0, Ordering::Relaxed);
    set_limit();
}

fn set_limit() {
    let sampled = KNOWN.load(Ordering::Relaxed) + UNSAMPLED.load(Ordering::Relaxed);
    let sampled = sampled.saturating_mul(PARTS);
    LIMIT.store(TURN.load(Ordering::Relaxed).min(sampled), Ordering::Relaxed);
}

/// The time that has passed since the simulator was told last. It knows of that now.
#[inline]
pub(crate) fn take_passed() -> Cycles {
    let now = NOW.load(Ordering::Relaxed) / PARTS;
    let passed = now.saturating_sub(KNOWN.swap(now, Ordering::Relaxed));
    let unsampled = UNSAMPLED.load(Ordering::Relaxed).saturating_sub(passed);
    UNSAMPLED.store(unsampled, Ordering::Relaxed);
    Cycles(passed)
}

/// It is `now` for the thread that goes on, and it may run until `limit`.
#[inline]
pub(crate) fn set(now: Cycles, limit: Cycles) {
    let part = NOW.load(Ordering::Relaxed) % PARTS;
    NOW.store(now.0 * PARTS + part, Ordering::Relaxed);
    KNOWN.store(now.0, Ordering::Relaxed);
    let due = DUE.load(Ordering::Relaxed);
    TURN.store(limit.0.saturating_mul(PARTS).min(due), Ordering::Relaxed);
    set_limit();
}

/// The same for a time of the simulator's.
pub(crate) fn parts_of(time: Cycles) -> u64 {
    time.0.saturating_mul(PARTS)
}

/// Takes back what has passed since the time [was](keep) `since`, but for what the simulator knows of, and at most so many
/// parts. Returns how many.
#[inline]
pub(crate) fn take_back(since: u64, most: u64) -> u64 {
    let now = NOW.load(Ordering::Relaxed);
    let known = KNOWN.load(Ordering::Relaxed) * PARTS;
    let taken = now.saturating_sub(since.max(known)).min(most);
    NOW.store(now - taken, Ordering::Relaxed);
    taken
}

/// The time, to be [put back](put_back).
pub(crate) fn keep() -> u64 {
    NOW.load(Ordering::Relaxed)
}

/// It is again what it was: what others have executed since then did not count.
pub(crate) fn put_back(kept: u64) {
    NOW.store(kept, Ordering::Relaxed);
}

/// The thread that runs has to look at the simulator at once.
pub(crate) fn interrupt() {
    TURN.store(0, Ordering::Relaxed);
    LIMIT.store(0, Ordering::Relaxed);
}

/// Nobody has to let anybody go on any more.
pub(crate) fn stop() {
    TURN.store(u64::MAX, Ordering::Relaxed);
    LIMIT.store(u64::MAX, Ordering::Relaxed);
}
