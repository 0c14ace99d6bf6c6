//! Threads that share one spin lock made by hand, as people write them: nothing says what it is.

mod planted;

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};

static PLANTED_LOCK: AtomicBool = AtomicBool::new(false);

#[inline(never)]
fn planted_section(worker: &mut planted::Worker) {
    while PLANTED_LOCK.swap(true, Ordering::Acquire) {
        while PLANTED_LOCK.load(Ordering::Relaxed) {
            spin_loop();
        }
    }
    worker.hold();
    PLANTED_LOCK.store(false, Ordering::Release);
}

fn main() {
    planted::run("hand-made spin lock", &PLANTED_LOCK, |worker| {
        while !worker.over() {
            worker.think();
            planted_section(worker);
        }
    });
}
