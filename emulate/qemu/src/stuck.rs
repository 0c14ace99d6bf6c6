//! Programs of which all threads wait for ever.

use kilocore_emulation_orders::{Report, StuckThread};
use kilocore_platform::Cycles;
use kilocore_sim::Place;

use crate::{calls, loaded, machine, report};

/// Reports that nothing can happen any more, and where the threads are that wait for ever, and ends the program.
pub(crate) fn report(at: Cycles, tasks: &[usize], places: &[Place]) -> ! {
    let us = machine::ns(at) / 1e3;
    let calls = |&place: &Place| calls::addresses(place);
    let stuck = tasks.iter().zip(places.iter().map(calls));
    report::put(&Report {
        failure: Some(format!(
            "it is a deadlock: after {us:.0} µs all threads that are left wait for ever"
        )),
        stuck: stuck.map(|(&task, calls)| StuckThread { thread: task as u64, calls }).collect(),
        files: loaded::files(),
        ..Report::default()
    });
    report::end()
}
