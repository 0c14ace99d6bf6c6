//! Whether an access loads, stores, or does both.
//!
//! QEMU describes an access by a number, and has a function that says whether it is a store. A call of
//! that function at each access would take as long as all else that is done there. So it is asked once
//! where the two bits are that it looks at. (QEMU can also call a function at loads only, and another one
//! at stores only. In version 7.2 it mixes them up.)

use std::sync::atomic::{AtomicU32, Ordering};

use crate::api;

/// What an access does. An atomic update is a load and a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// As QEMU numbers kinds of accesses when callbacks are registered.
    bits: u32,
}

impl Access {
    /// Whether it loads.
    #[inline(always)]
    #[must_use]
    pub const fn loads(self) -> bool {
        self.bits & api::LOAD != 0
    }

    /// Whether it stores.
    #[inline(always)]
    #[must_use]
    pub const fn stores(self) -> bool {
        self.bits & api::STORE != 0
    }
}

/// Why it is not known what accesses do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// No known version of QEMU describes accesses like this one.
    #[error("this QEMU describes loads and stores in a way that is not known")]
    Unknown,
}

/// Where the bit of loads is. That of stores is the next one, as in QEMU's constants.
static SHIFT: AtomicU32 = AtomicU32::new(0);

/// Finds out where the bits are. Before that, [`kind`] says nothing true.
///
/// # Errors
/// If this QEMU describes accesses in another way.
pub fn learn() -> Result<(), AccessError> {
    // SAFETY: a function of one number, without any effect.
    let is_store = |access: u32| unsafe { api::qemu_plugin_mem_is_store(access) };
    let fits = |shift: &u32| {
        !is_store(api::LOAD << shift)
            && is_store(api::STORE << shift)
            && is_store((api::LOAD | api::STORE) << shift)
    };
    let shift = (0..u32::BITS - 1).find(fits).filter(|_| !is_store(0));
    let shift = shift.ok_or(AccessError::Unknown)?;
    SHIFT.store(shift, Ordering::Relaxed);
    Ok(())
}

/// What an access does, from the number that describes it.
#[inline(always)]
#[must_use]
pub fn kind(access: u32) -> Access {
    Access { bits: access >> SHIFT.load(Ordering::Relaxed) & (api::LOAD | api::STORE) }
}

/// How many bytes an access has, from the number that describes it.
#[inline(always)]
#[must_use]
pub fn bytes(access: u32) -> u64 {
    // SAFETY: a function of one number, without any effect.
    1 << unsafe { api::qemu_plugin_mem_size_shift(access) }
}
