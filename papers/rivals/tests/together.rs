//! Each rival, used by several threads of the machine.

use crate::common;

use kilocore_platform::Native;
use kilocore_rivals::conformance::{Plan, together};

for_every_scheme! { Native, S => for seed in 1..=4 {
    let plan =
        Plan { threads: 4, objects: 12, operations: 20_000, seed, place: |_| () };
    together::<Native, S>(plan, common::on_threads);
} }
