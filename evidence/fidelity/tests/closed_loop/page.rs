//! The page.

use std::iter;

use kilocore_figures::median;
use kilocore_machine::Description;
use kilocore_show::markdown::table;
use kilocore_show::terminal::columns::Align::{self, Left, Right};

use crate::case::{Case, Ends, Think};
use crate::compared::{CORES, Compared, TRIED};
use crate::feature::Feature;
use crate::queue::{self, Queue};
use crate::{Row, THINK_NS};

const INTRODUCTION: &str = "\
# The closed loop

`make closed-loop` measures C programs whose parameters their arguments say, makes a workload of each \
profile, and simulates it beside a workload of the true parameters. So the simulator's own errors \
fall out, and what is left is lost between measuring and translating. The page is made by the test \
`evidence/fidelity/tests/closed_loop`; the programs are `program.c` and `features.c` there. What stands \
below the tables is written by hand.

Two threads on two cores think for 20 µs on average, take a mutex, hold it, and let it go, \
32,000 times together. *median error*: of throughput under today's lock, not normalized, over all numbers of \
cores. *signs*: for how many of the locks that truly gain or lose a tenth or more on 48 cores the forecast \
says which. The tried locks are those of the last columns of the second table.

";

const OF_CASES: &str = "\
## One mutex

*few long*: a hundredth of the thinking times has 99 hundredths of the work. \
*serial*: the part of all computing that the main thread does before the others start and after they \
have ended. *round ends*: each of 100 rounds ends in nothing, in a `pthread_barrier_t`, or in a \
barrier made of a mutex and a condition variable. *found*: what the forecast makes of the profile. \
The last columns are thousands of sections a second on so many cores: by the true parameters / by the \
forecast, both simulated.

";

const OF_FEATURES: &str = "\
## What profiles may lose

Thinking is exponential. *unequal use*: one of several mutexes, which are made at one place, gets so much of \
all uses, and the others get the rest equally. *nesting*: another mutex is taken inside, and held for so long; \
*hold* is without it. *polling*: threads call `pthread_mutex_trylock` until they get the mutex, and compute \
for so long between two calls. *helpers*: so many threads sleep for a millisecond, take the mutex once, and \
so on; the true parameters are without them. *more threads*: than cores. All run before other \
programs of the host, by a real-time priority: threads that share cores take turns of a tenth of a second \
(`SCHED_RR`), and helpers go before the others. The columns with names of locks are what \
these bring on 48 cores, as a multiple of today's: truly / said.

";

const OF_QUEUES: &str = "\
## Queues

Half of the threads think and put things into a queue, and the others take them out and think. The queue \
is guarded by a mutex and has a condition variable for those who wait for room and one for those who wait for things. \
The model has neither roles nor conditions, so the truth is not simulated: the columns are thousands of sections a \
second on one and on two cores of this host, by the stopwatch (the median of five runs) / by the forecast, on a machine \
file that `kilocore record machine` has just made.

";

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn median_error(errors: impl Iterator<Item = f64>) -> f64 {
    median(errors).expect("points are compared")
}

fn thousands([truth, said]: &[f64; 2]) -> String {
    format!("{:.0} / {:.0}", truth / 1e3, said / 1e3)
}

fn signs<'a>(of: impl Iterator<Item = &'a Compared>) -> String {
    let all: Vec<[bool; 2]> = of.flat_map(Compared::signs).collect();
    let right = all.iter().filter(|[truth, said]| truth == said).count();
    format!("{right} of {}", all.len())
}

fn columns<'a>(first: &[(&'a str, Align)], last: &'a [String]) -> Vec<(&'a str, Align)> {
    first.iter().copied().chain(last.iter().map(|name| (&**name, Right))).collect()
}

/// What is to be said of all the programs of a table.
fn summary(all: &[&Compared]) -> String {
    let error = median_error(all.iter().flat_map(|compared| compared.errors()));
    let signs: Vec<[bool; 2]> = all.iter().flat_map(|compared| compared.signs()).collect();
    let right = |answer: &dyn Fn(bool) -> bool| {
        let right = signs.iter().filter(|[truth, said]| *truth == answer(*said)).count();
        let share = right as f64 / signs.len().max(1) as f64;
        format!("{right} of {} ({})", signs.len(), percent(share))
    };
    format!(
        "The median error of all is {:.1} %. The sign is right in {}. That every lock gains is right in {}, and \
         that every lock loses in {}.\n",
        error * 100.0,
        right(&|said| said),
        right(&|_| true),
        right(&|_| false),
    )
}

fn cases(rows: &[Row<Case>]) -> String {
    let cores = CORES.map(|cores| cores.to_string());
    let columns = columns(
        &[
            ("thinking", Left),
            ("hold", Right),
            ("serial", Right),
            ("round ends", Left),
            ("serial found", Right),
            ("rounds found", Right),
            ("median error", Right),
            ("signs", Right),
        ],
        &cores,
    );
    let row = |row: &Row<Case>| {
        let Case { think, hold, serial_share, ends } = row.program;
        let think = match think {
            Think::Exponential => "exponential",
            Think::FewLong => "few long",
        };
        let ends = match ends {
            Ends::Nothing => "never",
            Ends::Barrier => "barrier",
            Ends::Condition => "condition",
        };
        // Of all computing, as the found one is.
        let all = THINK_NS * (1.0 + serial_share) + hold.0;
        let conduct = &row.profiled.conduct;
        let mut cells = vec![
            think.to_owned(),
            format!("{} ns", hold.0),
            format!("{:.1} %", serial_share * THINK_NS / all * 100.0),
            ends.to_owned(),
            format!("{:.1} %", conduct.time.serial_share() * 100.0),
            format!("{:.0}", conduct.barrier_rounds),
            percent(median_error(row.compared.errors())),
            signs(iter::once(&row.compared)),
        ];
        cells.extend(row.compared.rates.iter().map(thousands));
        cells
    };
    table(&columns, &rows.iter().map(row).collect::<Vec<_>>())
}

/// The table of programs with features.
pub(crate) fn features(rows: &[Row<Feature>]) -> String {
    let last: Vec<String> = CORES
        .iter()
        .map(ToString::to_string)
        .chain(TRIED.iter().map(|lock| lock.name().to_owned()))
        .collect();
    let columns = columns(
        &[
            ("feature", Left),
            ("how", Left),
            ("hold", Right),
            ("median error", Right),
            ("signs", Right),
        ],
        &last,
    );
    let row = |row: &Row<Feature>| {
        let Feature { name, how, hold_ns, .. } = row.program;
        let mut cells = vec![
            name.to_owned(),
            how.to_owned(),
            format!("{hold_ns} ns"),
            percent(median_error(row.compared.errors())),
            signs(iter::once(&row.compared)),
        ];
        cells.extend(row.compared.rates.iter().map(thousands));
        let gains = row.compared.gains.iter();
        cells.extend(gains.map(|[truth, said]| format!("{truth:.2} / {said:.2}")));
        cells
    };
    table(&columns, &rows.iter().map(row).collect::<Vec<_>>())
}

/// The median error and the signs of each feature.
fn by_feature(rows: &[Row<Feature>]) -> String {
    let mut names: Vec<&str> = rows.iter().map(|row| row.program.name).collect();
    names.dedup();
    let line = |name: &str| {
        let of = rows.iter().filter(|row| row.program.name == name).map(|row| &row.compared);
        let error = median_error(of.clone().flat_map(Compared::errors));
        vec![name.to_owned(), format!("{:.1} %", error * 100.0), signs(of)]
    };
    table(
        &[("feature", Left), ("median error", Right), ("signs", Right)],
        &names.into_iter().map(line).collect::<Vec<_>>(),
    )
}

/// The table of queues.
pub(crate) fn queues(rows: &[Queue]) -> String {
    let cores = queue::CORES.map(|cores| cores.to_string());
    let columns = columns(&[("queue", Left), ("hold", Right), ("worst error", Right)], &cores);
    let row = |row: &Queue| {
        let mut cells = vec![
            row.program.how.to_owned(),
            format!("{} ns", row.program.hold_ns),
            percent(row.errors().fold(0.0, f64::max)),
        ];
        cells.extend(row.rates.iter().map(thousands));
        cells
    };
    table(&columns, &rows.iter().map(row).collect::<Vec<_>>())
}

/// The page, but for what is written by hand.
pub(crate) fn page(
    of_cases: &[Row<Case>],
    of_features: &[Row<Feature>],
    of_queues: &[Queue],
    machine: &Description,
    host: &str,
) -> String {
    let compared = |rows: &mut dyn Iterator<Item = &Compared>| summary(&rows.collect::<Vec<_>>());
    let here = median_error(of_queues.iter().flat_map(Queue::errors));
    format!(
        "{INTRODUCTION}The machine is {}. Measured on {host}.\n\n{OF_CASES}{}\n\n{}\n{OF_FEATURES}{}\n\n{}\n{}\n\n\
         {OF_QUEUES}{}\n\nThe median error of these is {:.1} %.\n",
        machine.name,
        cases(of_cases),
        compared(&mut of_cases.iter().map(|row| &row.compared)),
        features(of_features),
        compared(&mut of_features.iter().map(|row| &row.compared)),
        by_feature(of_features),
        queues(of_queues),
        here * 100.0,
    )
}
