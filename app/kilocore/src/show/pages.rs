//! Summarizing a trace of pages.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use kilocore_page_trace::{
    Header, Nanoseconds, ReadError, Reader, Reuse, Summary, Trace, Wrong, write_text,
};
use kilocore_show::shell::shell_word;
use kilocore_show::{Table, number};
use serde::Serialize;

use kilocore_command_line::reports::{self, Reports};
use kilocore_command_line::{Failure, reader_is_gone};

/// A trace in figures.
#[derive(Serialize)]
struct PagesDocument {
    schema: &'static str,
    trace: Header,
    summary: Summary,
}

/// Prints what a trace has in it.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let (trace, summary) = summed_up(file)?;
    let tables = tables(&trace, &summary);
    let document = PagesDocument { schema: "kilocore-pages-summary/1", trace, summary };
    reports.print(document, || reports::in_words(&tables))
}

/// Prints all of a trace as text: a line with what it says of itself, and then a line for each event.
pub(super) fn show_events(file: &Path) -> Result<(), Failure> {
    // It is read once before anything is printed: only a trace that is whole is.
    summed_up(file)?;
    print_events(file)
}

/// A trace that is read an event at a time if it is packed, because it may be large, and at once if
/// it is text.
enum Source {
    Packed(Reader<BufReader<File>>),
    Text(Trace),
}

impl Source {
    fn open(path: &Path) -> Result<Self, ReadError> {
        match Reader::open(path) {
            Ok(reader) => Ok(Self::Packed(reader)),
            Err(ReadError { what: Wrong::NoTrace(_), .. }) => Trace::read(path).map(Self::Text),
            Err(error) => Err(error),
        }
    }
}

fn summed_up(path: &Path) -> Result<(Header, Summary), ReadError> {
    let about_file = |error: ReadError| ReadError { file: Some(path.to_owned()), ..error };
    match Source::open(path)? {
        Source::Packed(reader) => {
            let header = reader.header().clone();
            Ok((header, Summary::of(reader).map_err(about_file)?))
        }
        Source::Text(trace) => {
            let summary = Summary::of(trace.events.iter().copied().map(Ok::<_, ReadError>))?;
            Ok((trace.header, summary))
        }
    }
}

/// Prints a trace as text. A reader that has gone away is no failure.
fn print_events(path: &Path) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match Source::open(path)? {
        Source::Packed(reader) => {
            let header = reader.header().clone();
            write_text(&mut out, &header, reader.map_while(Result::ok))
        }
        Source::Text(trace) => write_text(&mut out, &trace.header, trace.events),
    };
    match written.and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            reader_is_gone();
            Ok(())
        }
        Err(error) => Err(Failure::new(format!(
            "cannot write the events: {error}; send them where there is room"
        ))),
    }
}

/// The summary, and what the trace does not show.
fn tables(header: &Header, summary: &Summary) -> Vec<Table> {
    vec![unseen(header), figures(header, summary), lifetimes(summary), held(summary)]
}

/// What is missing stands first.
fn unseen(header: &Header) -> Table {
    let (about, unseen) = (&header.about, &header.about.unseen);
    let words: Vec<String> = about.command.iter().map(|word| shell_word(word)).collect();
    let mut below = vec![
        format!("Pages of {}", cut(&words.join(" "))),
        format!(
            "Measured {} with Linux {} on {} cores ({}): {} processes with {} threads.",
            about.recorded_at,
            about.kernel,
            about.cpus,
            about.architecture,
            about.processes,
            about.threads
        ),
    ];
    if unseen.lost > 0 {
        let lost = number::count(unseen.lost);
        below.insert(0, format!("{lost} records were lost, of this program or of others."));
    }
    let count = number::count;
    below.push(format!(
        "Not in the trace: {} blocks that went back and had not been seen to be allocated. Releases \
         that were missed: {}.",
        count(unseen.released_unallocated),
        count(unseen.releases_inferred)
    ));
    if about.delay > Nanoseconds(0) {
        let delay = number::nanoseconds(about.delay.0 as f64);
        below.push(format!("The program's first {delay} were left out."));
    }
    below.push(format!("Not covered: {}.", about.not_covered.join("; ")));
    Table { below, ..Table::default() }
}

/// A command of a reasonable length.
fn cut(command: &str) -> String {
    const MOST: usize = 200;
    if command.chars().count() <= MOST {
        return command.to_owned();
    }
    command.chars().take(MOST).chain(['…']).collect()
}

fn figures(header: &Header, summary: &Summary) -> Table {
    let seconds = summary.last_at.0 as f64 / 1e9;
    let rate = |count: u64| number::per_second(count as f64 / seconds.max(1e-9));
    let share = |part: u64, of: u64| {
        if of == 0 { String::new() } else { number::percent(part as f64 / of as f64) }
    };
    let row =
        |name: &str, count: u64, rest: String| (name.to_owned(), vec![number::count(count), rest]);
    let (allocated, releases) = (summary.allocated, summary.releases);
    let Reuse { pages, from_other_cpu, within_64, within_2048 } = summary.reuse;
    let mut rows = vec![
        row("events", summary.events, rate(summary.events)),
        row("blocks allocated", summary.blocks_allocated, rate(summary.blocks_allocated)),
        row(
            "  of a single page",
            single(summary),
            share(single(summary), summary.blocks_allocated),
        ),
        row("pages allocated", allocated, rate(allocated)),
        row("  filled with zeroes", summary.zeroed, share(summary.zeroed, allocated)),
        row("  of the program or of files", summary.movable, share(summary.movable, allocated)),
        row("  released earlier in the trace", pages, share(pages, allocated)),
        row("    by another cpu", from_other_cpu, share(from_other_cpu, pages)),
        row("    less than 64 pages ago", within_64, share(within_64, pages)),
        row("    less than 2,048 pages ago", within_2048, share(within_2048, pages)),
        row("pages released", releases.pages, rate(releases.pages)),
        row(
            "  on another cpu",
            releases.on_other_cpu,
            share(releases.on_other_cpu, releases.pages),
        ),
        row(
            "  by another thread",
            releases.by_other_thread,
            share(releases.by_other_thread, releases.pages),
        ),
        row(
            "  from outside of the program",
            releases.from_outside,
            share(releases.from_outside, releases.pages),
        ),
        row("pages held at most", summary.held_at_most, String::new()),
        row("pages held at the end", summary.held_at_end, String::new()),
    ];
    if let Some(faults) = header.about.page_faults {
        rows.push(row("page faults, counted apart", faults.minor + faults.major, String::new()));
    }
    Table {
        title: format!("In {}", number::nanoseconds(summary.last_at.0 as f64)),
        front: "",
        headings: ["count", "rate or share"].into(),
        rows,
        below: vec![],
        ..Table::default()
    }
}

fn single(summary: &Summary) -> u64 {
    summary.blocks_by_order.first().copied().unwrap_or(0)
}

fn lifetimes(summary: &Summary) -> Table {
    let time = |time: Nanoseconds| number::nanoseconds(time.0 as f64);
    let all = summary.releases.pages.max(1);
    let row = |bin: &kilocore_page_trace::LifetimeBin| {
        let share = number::percent(bin.pages as f64 / all as f64);
        (time(bin.from), vec![number::count(bin.pages), share])
    };
    let percentile = |(percent, at): &(u8, Nanoseconds)| format!("{percent} % {}", time(*at));
    let below = match summary.lifetime_percentiles.as_slice() {
        [] => vec!["No page went back.".to_owned()],
        some => {
            let some: Vec<String> = some.iter().map(percentile).collect();
            vec![format!("Held at most: {}.", some.join(", "))]
        }
    };
    Table {
        title: "How long released pages had been held".to_owned(),
        front: "at least",
        headings: ["pages", "share"].into(),
        rows: summary.lifetimes.iter().map(row).collect(),
        below,
        ..Table::default()
    }
}

/// How many pages were held, at a few times of many.
fn held(summary: &Summary) -> Table {
    const ROWS: usize = 16;
    let every = summary.held.len().div_ceil(ROWS).max(1);
    let row = |moment: &kilocore_page_trace::Moment| {
        (number::nanoseconds(moment.at.0 as f64), vec![number::count(moment.held)])
    };
    let mut rows: Vec<_> = summary.held.iter().rev().step_by(every).map(row).collect();
    rows.reverse();
    Table {
        title: "Pages held over time".to_owned(),
        front: "at",
        headings: ["pages"].into(),
        rows,
        below: vec![],
        ..Table::default()
    }
}
