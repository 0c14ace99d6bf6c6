//! Threads that share one `std::sync::Mutex`.

mod planted;

use std::sync::{Mutex, PoisonError};

static PLANTED_LOCK: Mutex<()> = Mutex::new(());

#[inline(never)]
fn planted_section(worker: &mut planted::Worker) {
    let _held = PLANTED_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    worker.hold();
}

fn main() {
    planted::run("std::sync::Mutex", &PLANTED_LOCK, |worker| {
        while !worker.over() {
            worker.think();
            planted_section(worker);
        }
    });
}
