//! Random numbers for locks, which decide how long a waiter backs off or whether a handover is
//! fair.

use kilocore_platform::Platform;

/// A pseudo-random sequence of one thread: xorshift with 32 bits (Marsaglia, 'Xorshift RNGs',
/// 2003). It is good enough to keep threads out of step.
#[derive(Debug, Default)]
pub(crate) struct Dice {
    /// It is never 0 once seeded.
    state: u32,
}

impl Dice {
    /// Returns the next number of the sequence.
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

    /// Seeds from the time and the core. Two threads differ in one of them, unless they take turns on
    /// one core. In a simulation both repeat from run to run, and from build to build: an address on
    /// a stack would not, because the compiler chooses where things lie there.
    #[cold]
    fn seed<P: Platform>(&mut self) {
        let key = P::now().0 ^ u64::from(P::cpu().0) << 48;
        self.state = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 | 1;
    }
}
