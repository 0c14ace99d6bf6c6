//! Runs programs under the checkers and returns their verdicts.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::Runner;
use shuttle::scheduler::{PctScheduler, RandomScheduler};

use crate::roomy::with_room;

/// Returns the verdict of a checker.
///
/// # Errors
/// The message of the panic, if the check panicked.
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

/// Runs all executions of `program` under loom. If `preemptions` is given, executions with more
/// preemptions are left out.
pub fn model(preemptions: Option<usize>, program: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 10_000;
    builder.check(move || with_room(&program));
}

/// The seed of shuttle's choices. It is fixed, so that every run finds what one run finds. A broken
/// twin that is caught with most seeds only would otherwise fail a test now and then.
const SEED: u64 = 0x5eed;

/// The stack of a thread under shuttle. Code that is not optimized needs more than shuttle's own
/// 60 KiB.
const STACK_BYTES: usize = 256 << 10;

/// Runs `program` on `schedules` random schedules of shuttle, and on as many schedules of PCT. PCT
/// places `depth` preemptions, and so finds a bug of small depth with a known probability.
pub fn explore(program: impl Fn() + Copy + Send + Sync + 'static, schedules: usize, depth: usize) {
    silence_shuttle();
    let mut config = shuttle::Config::default();
    config.stack_size = STACK_BYTES;
    let random = RandomScheduler::new_from_seed(SEED, schedules);
    Runner::new(random, config.clone()).run(program);
    let pct = PctScheduler::new_from_seed(SEED, depth, schedules);
    Runner::new(pct, config).run(program);
}

/// What `make soak` and `make weaken` set.
const ALL_SCHEDULES: &str = "KILOCORE_ALL_SCHEDULES";

/// How many of so many schedules, or random cases, are tried where no error is expected: a quarter, and
/// all of them under `make soak`. They are fixed and in a fixed order.
pub fn part_of(all: usize) -> usize {
    if is_thorough() { all } else { all.div_ceil(4) }
}

/// Whether all schedules are explored, as under `make soak`, however long it takes.
pub fn is_thorough() -> bool {
    std::env::var_os(ALL_SCHEDULES).is_some()
}

/// Runs `program` as [`explore`] does, on [`part_of`] so many schedules.
pub fn explore_part(
    program: impl Fn() + Copy + Send + Sync + 'static,
    schedules: usize,
    depth: usize,
) {
    explore(program, part_of(schedules), depth);
}

/// Keeps shuttle from repeating a warning: it treats every ordering as sequentially consistent.
/// Because of this, the orderings are checked with loom.
fn silence_shuttle() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: this happens once, before the checkers of this process start. No other code here
        // reads or writes the environment at that time.
        unsafe { std::env::set_var(shuttle::SILENCE_WARNINGS, "1") };
    });
}
