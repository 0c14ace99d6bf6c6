//! A root that never logs: what it costs that it could.

use kilocore_ldu::{Advice, Kind, Policy, SchemePolicy, SchemeQueue};
use kilocore_platform::Native;

/// Every update is made at once.
pub(crate) struct Never;

impl Policy<Native> for Never {
    fn new() -> Self {
        Self
    }
    #[inline(always)]
    fn begin(&self, _kind: Kind) -> Advice {
        Advice { logs: false, began: None }
    }
}

impl SchemePolicy<Native> for Never {
    fn name<Q: SchemeQueue<Native>>() -> &'static str {
        "never"
    }
}
