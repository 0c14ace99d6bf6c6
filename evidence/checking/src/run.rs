//! Programs under the checkers, and what these say of them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::Runner;
use shuttle::scheduler::{PctScheduler, RandomScheduler};

/// What a checker says of a program.
///
/// # Errors
/// The message with which it failed.
pub fn verdict(check: impl FnOnce()) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(check)).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Runs all executions of `program` under loom, or all with at most so many preemptions.
pub fn model(preemptions: Option<usize>, program: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 10_000;
    builder.check(program);
}

/// Where shuttle's choices start. Fixed, so that what one run finds the next one finds as well:
/// a broken twin that is caught on most seeds only would fail a test now and then.
const SEED: u64 = 0x5eed;

/// Runs `program` on `schedules` random schedules of shuttle, and on as many of PCT, which places
/// `depth` preemptions and so finds a bug of small depth with known probability.
pub fn explore(program: impl Fn() + Copy + Send + Sync + 'static, schedules: usize, depth: usize) {
    silence_shuttle();
    let random = RandomScheduler::new_from_seed(SEED, schedules);
    Runner::new(random, shuttle::Config::default()).run(program);
    let pct = PctScheduler::new_from_seed(SEED, depth, schedules);
    Runner::new(pct, shuttle::Config::default()).run(program);
}

/// Keeps shuttle from repeating that it takes every ordering for sequentially consistent, which
/// is why loom checks the orderings.
fn silence_shuttle() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: done once, before this process's checkers start; no other code here reads or
        // writes the environment meanwhile.
        unsafe { std::env::set_var(shuttle::SILENCE_WARNINGS, "1") };
    });
}
