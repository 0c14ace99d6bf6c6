//! Which processors this process may use, and running on one of them.

use kilocore_platform::CpuId;

use crate::affinity::{CpuSet, affinity, confine, set_affinity};

use crate::MeasureError;

/// Returns the processors that the calling thread may use, by Linux' numbers in rising order, or
/// none if the system does not tell.
pub(crate) fn allowed() -> Vec<u32> {
    let set = affinity(0).unwrap_or_default();
    set.iter().map(|cpu| cpu.0).collect()
}

/// Keeps the calling thread on one processor until it is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    pub(crate) fn to(cpu: u32) -> Result<Self, MeasureError> {
        let pinned = || {
            let before = affinity(0)?;
            confine([CpuId(cpu)])?;
            Ok(Self { before })
        };
        pinned()
            .map_err(|error: std::io::Error| MeasureError::Pin { cpu, reason: error.to_string() })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Restoring the set that the thread had can fail only if processors went offline
        // meanwhile; then the thread stays where it is, which is harmless.
        let _ = set_affinity(0, &self.before);
    }
}
