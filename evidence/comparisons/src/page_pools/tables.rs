//! The tables of `docs/evidence/pages.md`.

use std::fmt::Write;

use crate::command;
use crate::rounds::{Figures, in_turn, table};
use kilocore_hardware::{CpuId, affinity};
use kilocore_page_trace::replay::kernel_lists;
use kilocore_pages::TieredOptions;
use kilocore_platform::Cycles;
use kilocore_show::Table;

use crate::page_pools::cost::{DEPTHS, pair};
use crate::page_pools::latency::{Measured, Setting, hand_over};
use crate::page_pools::subjects::{Kernel, Library, Pages, linux_4_18, linux_6_12, llfree, tiered};

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    rounds: usize,
    operations: u64,
    pages: usize,
}

impl From<command::Effort> for Effort {
    fn from(effort: command::Effort) -> Self {
        match effort {
            command::Effort::Full => Self { rounds: 15, operations: 2_000_000, pages: 60_000 },
            command::Effort::Quick => Self { rounds: 3, operations: 200_000, pages: 20_000 },
        }
    }
}

/// Measures what allocations and releases cost, and how long pages take to initialize, and returns
/// both as Markdown.
pub fn tables(effort: Effort) -> Result<String, String> {
    let mut text = String::new();
    let caches = TieredOptions::of_this_machine();
    let linux = kernel_lists(caches.cores());
    let _ = writeln!(
        text,
        "Measured with lists of at most {} pages for each of {} processors, and of {} for each last-level \
         cache. The lists of Linux 6.12 have between {} and {} pages, as this machine's kernel says of its \
         own.\n",
        caches.private_frames,
        caches.cores(),
        caches.shared_frames,
        linux.high_min,
        linux.high_max,
    );
    costs(&mut text, effort);
    latencies(&mut text, effort)?;
    Ok(text)
}

/// A subject, and what an allocation and a release cost there.
type Cost<'a> = (&'a str, Box<dyn Fn(u64, usize, u64) -> f64 + 'a>);

fn cost_of<'a>(name: &'a str, pages: impl Pages + 'a) -> Cost<'a> {
    (name, Box::new(move |threads, depth, operations| pair(&pages, threads, depth, operations)))
}

fn costs(text: &mut String, effort: Effort) {
    let mut subjects = vec![
        cost_of("the pool", tiered()),
        cost_of("lists of Linux 6.12", linux_6_12()),
        cost_of("lists of Linux 4.18", linux_4_18()),
        cost_of("LLFree without lists", llfree()),
    ];
    for (name, library) in [("mimalloc", Library::mimalloc()), ("jemalloc", Library::jemalloc())] {
        match library {
            Some(library) => subjects.push(cost_of(name, library)),
            None => eprintln!(
                "{name} cannot be loaded, so it is left out: install the Debian packages libmimalloc2.0 and \
                 libjemalloc2, and set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384, as `make \
                 page-pools` does"
            ),
        }
    }
    subjects.push(cost_of("`mmap`, touch, `munmap`", Kernel));
    let names: Vec<_> = subjects.iter().map(|(name, _)| *name).collect();
    for threads in [1, 2] {
        for depth in DEPTHS {
            let figures = in_turn(subjects.len(), effort.rounds, |subject, _| {
                // The kernel takes a thousand times as long.
                let part = if subject + 1 == subjects.len() { 100 } else { 1 };
                subjects[subject].1(threads, depth, effort.operations / part)
            });
            let _ = writeln!(
                text,
                "Nanoseconds to allocate and release a page; {threads} threads, each with {depth} pages at a \
                 time:\n\n{}",
                table(&names, &figures, "× the pool's")
            );
        }
    }
}

/// The sum of both working sets, in MiB.
const WORKING_SETS: [usize; 5] = [0, 4, 8, 16, 24];

fn latencies(text: &mut String, effort: Effort) -> Result<(), String> {
    let cpus: Vec<CpuId> = affinity(0).map_err(|e| e.to_string())?.iter().take(2).collect();
    let &[producer, consumer] = &cpus[..] else {
        return Err(
            "this process has one processor only, and two threads are to be measured".into()
        );
    };
    let (new, old, older, bitmaps) = (linux_6_12(), tiered(), linux_4_18(), llfree());
    let subjects: [(&str, &dyn Pages); 4] = [
        ("lists of Linux 6.12", &new),
        ("the pool", &old),
        ("lists of Linux 4.18", &older),
        ("LLFree without lists", &bitmaps),
    ];
    for mebibytes in WORKING_SETS {
        let setting = Setting {
            cpus: [producer, consumer],
            working_set: mebibytes << 20,
            before: effort.pages / 2,
            measured: effort.pages,
        };
        let mut all = vec![Measured::default(); subjects.len()];
        let mut whole = vec![Figures::default(); subjects.len()];
        let means = in_turn(subjects.len(), effort.rounds, |subject, _| {
            let measured = hand_over(subjects[subject].1, setting);
            all[subject].cycles.extend_from_slice(&measured.cycles);
            whole[subject].0.push(measured.nanoseconds_per_page);
            measured.mean()
        });
        let names = subjects.map(|(name, _)| name);
        let _ = writeln!(
            text,
            "Cycles to initialize a page, producer and consumer on different processors, working sets of \
             {mebibytes} MiB together. Means of a round:\n\n{}\nAll pages of all rounds, and nanoseconds for a \
             page all in all:\n\n{}",
            table(&names, &means, "× that of 6.12"),
            distribution(&names, &mut all, &whole),
        );
    }
    Ok(())
}

fn distribution(names: &[&str], all: &mut [Measured], whole: &[Figures]) -> String {
    let row = |((name, measured), whole): ((&&str, &mut Measured), &Figures)| {
        measured.cycles.sort_unstable();
        let at = |percent: usize| {
            let Cycles(cycles) = measured.cycles[(measured.cycles.len() - 1) * percent / 100];
            cycles.to_string()
        };
        let [_, whole, _] = whole.quartiles();
        let cells = [10, 50, 90, 99].map(at).into_iter().chain([format!("{whole:.0}")]);
        ((*name).to_owned(), cells.collect())
    };
    let table = Table {
        headings: ["10 %", "50 %", "90 %", "99 %", "ns a page"].into(),
        rows: names.iter().zip(all).zip(whole).map(row).collect(),
        ..Table::default()
    };
    table.markdown()
}
