//! Threads that share one `parking_lot::Mutex`.

mod planted;

use parking_lot::Mutex;

static PLANTED_LOCK: Mutex<()> = Mutex::new(());

#[inline(never)]
fn planted_section(worker: &mut planted::Worker) {
    let _held = PLANTED_LOCK.lock();
    worker.hold();
}

fn main() {
    planted::run("parking_lot::Mutex", &PLANTED_LOCK, |worker| {
        while !worker.over() {
            worker.think();
            planted_section(worker);
        }
    });
}
