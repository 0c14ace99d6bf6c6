//! What the run reports when it has ended.

use kilocore_emulation_orders::{Counts, Report, Seen, Span, ThreadTimes};
use kilocore_platform::Cycles;
use kilocore_sim::{Activity, Chain, Guests, Outcome};

use crate::counts::{CALLS, HANDOVERS, MISSES, OUTSIDE, PROCESSES, SLEEPS, TRANSFERS};
use crate::{
    blocks, chain, depends, guest, lives, loaded, machine, moves, replaced, report, since, stacks,
};

/// Writes the report of a program that is to be ended here, where the part ends that was asked for.
pub(crate) fn write_here(seen: Option<Seen>) {
    let Some(thread) = guest::this_thread() else { return };
    let (outcome, chain) = guest::simulate(&thread, |guest| {
        let until_now =
            |outcome| Outcome { end: guest.now(), tasks: guest.times_of_all(), ..outcome };
        (guest.outcome().map(until_now), guest.chain())
    });
    lives::are_cut();
    if let Some(outcome) = outcome {
        write(outcome, &chain, guest::machine().map_or(0, Guests::page_faults), seen);
    }
}

/// Writes the report of a program that ends.
pub(crate) fn write(outcome: Outcome, chain: &Chain, page_faults: u64, seen: Option<Seen>) {
    let ns = machine::ns;
    let (begin, outcome, page_faults) = since::then(outcome, page_faults);
    let (first, last) = lives::span();
    let after = |time: Cycles| time.since(begin);
    // Threads that the exit ends have worked up to now.
    let last = last.map_or(outcome.end, after);
    let parallel = first.map(|first| Span { start_ns: ns(after(first)), end_ns: ns(last) });
    let threads = outcome.tasks.iter().map(|times| {
        let of = |activity| ns(times.of(activity));
        ThreadTimes {
            working_ns: of(Activity::Working),
            stalled_ns: of(Activity::Stalled),
            spinning_ns: of(Activity::Spinning) + of(Activity::LowPower),
            system_ns: of(Activity::System),
        }
    });
    let files = loaded::files();
    let taken = replaced::taken(&files);
    report::put(&Report {
        end_ns: ns(outcome.end),
        parallel,
        threads: threads.collect(),
        counts: Counts {
            instructions: blocks::instructions(),
            misses: MISSES.get(),
            transfers: TRANSFERS.get(),
            handovers: HANDOVERS.get(),
            spins: SLEEPS.get(),
            page_faults,
            system_calls: CALLS.get(),
            outside: OUTSIDE.get(),
            processes: PROCESSES.get(),
            lock_calls: taken.calls,
            lock_calls_left: taken.left,
        },
        lines: moves::dearest(),
        code: blocks::slowest(),
        chain: chain::reported(chain),
        stacks: stacks::reported(),
        files,
        dependence: depends::all(),
        seen,
        failure: None,
        stuck: Vec::new(),
    });
}
