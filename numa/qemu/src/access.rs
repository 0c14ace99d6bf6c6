//! Whether an access loads, stores, or does both.
//!
//! QEMU describes an access by a number, and has a function that says whether it is a store. A call of
//! that function at each access would take as long as all else that is done there. So it is asked once
//! where the two bits are that it looks at. (QEMU can also call a function at loads only, and another one
//! at stores only. In version 7.2 it mixes them up.)

use std::sync::atomic::{AtomicU32, Ordering};

use crate::api;

/// The loads in the lower half, and the stores in the upper half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) u64);

impl Counts {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn loads(self) -> u32 {
        self.0 as u32
    }

    pub(crate) const fn stores(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Where the bit of loads is. That of stores is the next one, as in QEMU's constants.
static SHIFT: AtomicU32 = AtomicU32::new(0);

/// Finds out where the bits are.
pub(crate) fn learn() -> Result<(), String> {
    // SAFETY: a function of one number, without any effect.
    let is_store = |access: u32| unsafe { api::qemu_plugin_mem_is_store(access) };
    let fits = |shift: &u32| {
        !is_store(api::LOAD << shift)
            && is_store(api::STORE << shift)
            && is_store((api::LOAD | api::STORE) << shift)
    };
    let shift = (0..u32::BITS - 1).find(fits).filter(|_| !is_store(0));
    let shift = shift.ok_or("this QEMU describes loads and stores in a way that is not known")?;
    SHIFT.store(shift, Ordering::Relaxed);
    Ok(())
}

/// What an access counts. An atomic update is a load and a store.
#[inline(always)]
pub(crate) fn counts(access: u32) -> Counts {
    let kind = u64::from(access >> SHIFT.load(Ordering::Relaxed));
    Counts((kind & 1) | (kind & 2) << 31)
}
