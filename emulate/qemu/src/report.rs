//! What the run reports.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use kilocore_emulation_orders::{Counts, MappedFile, Report, Span, ThreadTimes};
use kilocore_linux::maps::Mapping;
use kilocore_platform::Cycles;
use kilocore_qemu_plugin::mappings;
use kilocore_sim::{Activity, Chain, Guests, Outcome};

use crate::counts::{CALLS, HANDOVERS, MISSES, OUTSIDE, SLEEPS, TRANSFERS};
use crate::{blocks, chain, depends, guest, machine, moves, since, stacks, window};

/// The file of the report.
static FILE: Mutex<Option<File>> = Mutex::new(None);
/// When the first thread began that the program made, and when the last one ended. In cycles.
static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);
static LAST: AtomicU64 = AtomicU64::new(0);
/// How many threads there are that the program has made.
static THREADS: AtomicU64 = AtomicU64::new(0);

/// Opens the file for the report, which is there already.
pub(crate) fn open(path: &str) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    Ok(())
}

/// The part begins of which the report is.
pub(crate) fn forget(now: Cycles) {
    FIRST.store(if has_threads() { now.0 } else { u64::MAX }, Ordering::Relaxed);
    LAST.store(0, Ordering::Relaxed);
}

/// Whether there are threads that the program has made.
pub(crate) fn has_threads() -> bool {
    THREADS.load(Ordering::Relaxed) > 0
}

pub(crate) fn thread_begins(now: Cycles) {
    THREADS.fetch_add(1, Ordering::Relaxed);
    FIRST.fetch_min(now.0, Ordering::Relaxed);
}

/// A thread ends, which the program has made unless it is its first one.
pub(crate) fn thread_ends(now: Cycles, was_made: bool) {
    THREADS.fetch_sub(u64::from(was_made), Ordering::Relaxed);
    LAST.fetch_max(now.0, Ordering::Relaxed);
}

/// Writes the report of a program that is to be ended here, where the part ends that was asked for.
pub(crate) fn write_here() {
    let Some(thread) = guest::this_thread() else { return };
    let (outcome, chain) = guest::simulate(&thread, |guest| {
        let until_now =
            |outcome| Outcome { end: guest.now(), tasks: guest.times_of_all(), ..outcome };
        (guest.outcome().map(until_now), guest.chain())
    });
    if has_threads() {
        // They would have worked on.
        LAST.store(0, Ordering::Relaxed);
    }
    if let Some(outcome) = outcome {
        write(outcome, &chain, guest::machine().map_or(0, Guests::page_faults));
    }
}

/// Writes the report of a program that ends.
pub(crate) fn write(outcome: Outcome, chain: &Chain, page_faults: u64) {
    let ns = machine::ns;
    let (begin, outcome, page_faults) = since::then(outcome, page_faults);
    let first = FIRST.load(Ordering::Relaxed);
    let after = |time: u64| Cycles(time.saturating_sub(begin.0));
    // Threads that the exit ends have worked up to now.
    let last = match LAST.load(Ordering::Relaxed) {
        last if last > first => after(last),
        _ => outcome.end,
    };
    let parallel =
        (first != u64::MAX).then(|| Span { start_ns: ns(after(first)), end_ns: ns(last) });
    let threads = outcome.tasks.iter().map(|times| {
        let of = |activity| ns(times.of(activity));
        ThreadTimes {
            working_ns: of(Activity::Working),
            stalled_ns: of(Activity::Stalled),
            spinning_ns: of(Activity::Spinning) + of(Activity::LowPower),
            system_ns: of(Activity::System),
        }
    });
    put(&Report {
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
        },
        lines: moves::dearest(),
        code: blocks::slowest(),
        chain: chain::reported(chain),
        stacks: stacks::reported(),
        files: mappings().into_iter().filter(is_file).map(file).collect(),
        dependence: depends::all(),
        seen: window::seen(),
        failure: None,
    });
}

fn is_file(mapping: &Mapping) -> bool {
    mapping.file().is_some()
}

fn file(mapping: Mapping) -> MappedFile {
    let Mapping { start, end, offset, path, .. } = mapping;
    MappedFile { start, end, offset, path }
}

/// Reports why the program cannot be emulated any further, and ends it.
pub(crate) fn fail(why: &str) -> ! {
    say(why);
    // SAFETY: it ends the process at once, whatever its threads do.
    unsafe { libc::_exit(1) }
}

/// Reports why the program is not emulated to its end, unless it ends in another way after all.
pub(crate) fn say(why: &str) {
    put(&Report { failure: Some(why.to_owned()), ..Report::default() });
}

fn put(report: &Report) {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &mut *file {
        // Whoever waits for the report sees that it is not whole.
        let written = file
            .rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(&report.to_bytes()));
        if let Err(error) = written {
            eprintln!("kilocore: the report cannot be written: {error}");
        }
    }
}
