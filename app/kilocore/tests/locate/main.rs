//! `kilocore locate` finds planted bottlenecks, and nothing where there is none.

#[path = "../common/mod.rs"]
mod common;
mod formats;
mod live;
mod planted;
mod recorded;
mod refusals;

#[path = "../../../../measure/sampled-profile/tests/common/pprof.rs"]
mod pprof;
