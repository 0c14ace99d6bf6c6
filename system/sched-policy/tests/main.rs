//! Tests of the policies, as pure functions.

mod contended;
mod lock_aware;
