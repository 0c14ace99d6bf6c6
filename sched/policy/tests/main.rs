//! Tests of the policies, as pure functions.

mod any;
mod companions;
mod contended;
mod lock_aware;
mod resource_aware;
