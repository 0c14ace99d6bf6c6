//! A root that never logs: what it costs that it could.

use kilocore_ldu::{Advice, Kind, Policy, SchemePolicy, SchemeQueue};
use kilocore_platform::{Cycles, Native};

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
    #[inline(always)]
    fn done(&self, _kind: Kind, _advice: Advice) -> bool {
        false
    }
    fn owed(&self, _took: Cycles) {}
    #[inline(always)]
    fn look(&self) {}
    #[inline(always)]
    fn updated(&self) {}
}

impl SchemePolicy<Native> for Never {
    fn name<Q: SchemeQueue<Native>>() -> &'static str {
        "never"
    }
}
