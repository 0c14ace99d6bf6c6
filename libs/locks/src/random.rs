//! Dice for locks: which waiter steps back how far, which handover is the unusual one.

use kilocore_platform::Platform;

/// A thread's own pseudo-random sequence: xorshift with 32 bits (Marsaglia, 'Xorshift RNGs',
/// 2003). Good enough to keep threads out of step, and two instructions' worth of state.
#[derive(Debug, Default)]
pub(crate) struct Dice {
    /// Never 0 once seeded.
    state: u32,
}

impl Dice {
    /// The next number of the sequence.
    #[inline]
    pub(crate) fn roll<P: Platform>(&mut self) -> u32 {
        if self.state == 0 {
            self.seed::<P>();
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state
    }

    /// Seeds by the place of this value and the core, which differ between threads and, in a
    /// simulation, repeat from run to run.
    #[cold]
    fn seed<P: Platform>(&mut self) {
        let key = P::address_key(self) as u64 ^ u64::from(P::cpu().0) << 48;
        self.state = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 | 1;
    }
}
