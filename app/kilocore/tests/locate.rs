//! `kilocore locate` and `kilocore compare` find planted bottlenecks, and nothing where there is none.

mod formats;
mod gperftools;
mod live;
mod planted;
mod recorded;
mod refusals;
mod sleepers;

#[path = "../../../functions/sampled-profile/tests/common/pprof.rs"]
mod pprof;
