//! Where the figures of a profile come from.

use kilocore_lock_profile::Host;
use kilocore_show::{Mark, Provenance};

/// The mark of what was measured on the host of a profile.
pub(crate) fn measured_on(host: &Host) -> Mark {
    let on = format!("on {}, {} cores, Linux {}", host.processor, host.cores, host.kernel);
    Mark::new(Provenance::Measured, &on)
}
