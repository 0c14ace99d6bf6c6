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

    /// Seeds from the address of this value and the core. Both differ between threads and, in a
    /// simulation, repeat from run to run.
    #[cold]
    fn seed<P: Platform>(&mut self) {
        let key = P::address_key(self) as u64 ^ u64::from(P::cpu().0) << 48;
        self.state = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 | 1;
    }
}
