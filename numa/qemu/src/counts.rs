//! What was counted of a page: loads and stores.

use kilocore_qemu_plugin::access;

/// The loads in the lower half, and the stores in the upper half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) u64);

impl Counts {
    pub(crate) const NONE: Self = Self(0);

    /// What an access counts. An atomic update is a load and a store.
    #[inline(always)]
    pub(crate) fn of(access: u32) -> Self {
        let kind = access::kind(access);
        Self(u64::from(kind.loads()) | u64::from(kind.stores()) << 32)
    }

    pub(crate) const fn loads(self) -> u32 {
        self.0 as u32
    }

    pub(crate) const fn stores(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
