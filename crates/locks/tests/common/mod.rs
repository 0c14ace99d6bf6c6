//! What the checkers run: small programs, generic over the lock and the platform.
#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod altered;
pub mod programs;
pub mod read_write;
pub mod twins;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kilocore_platform::{Loom, Native, Platform, Shuttle};
use shuttle::Runner;
use shuttle::scheduler::{PctScheduler, RandomScheduler};

/// A platform on which a test can start threads.
pub trait Threads: Platform {
    type Handle;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle;
    fn join(handle: Self::Handle);
}

impl Threads for Native {
    type Handle = std::thread::JoinHandle<()>;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle {
        std::thread::spawn(run)
    }
    fn join(handle: Self::Handle) {
        handle.join().unwrap();
    }
}

impl Threads for Loom {
    type Handle = loom::thread::JoinHandle<()>;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle {
        loom::thread::spawn(run)
    }
    fn join(handle: Self::Handle) {
        handle.join().unwrap();
    }
}

impl Threads for Shuttle {
    type Handle = shuttle::thread::JoinHandle<()>;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle {
        shuttle::thread::spawn(run)
    }
    fn join(handle: Self::Handle) {
        handle.join().unwrap();
    }
}

/// What a checker says of a program: nothing, or the message with which it failed.
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
