//! Choices for tests, determined by a seed.

/// Returns what chooses a number below the one that it is given: a linear congruential generator, of which the
/// upper bits are even enough.
pub(crate) fn chooser(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move |n| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    }
}
