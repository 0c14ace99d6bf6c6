//! The page.

use kilocore_figures::median;
use kilocore_forecast::{Change, ForecastGain};
use kilocore_machine::Description;
use kilocore_show::markdown::table;
use kilocore_show::terminal::columns::Align::{self, Left, Right};
use std::fmt::Write;

use crate::program::{THINK_NS, if_all_scaled};
use crate::{ALLOWED, CORES, Row, Studied};

const INTRODUCTION: &str = "\
# What if the source were changed, beside programs that were changed

`make what-if` profiles a C program whose parameters its arguments say, and asks the forecast what changes of \
it would bring ([doctor.md](../guide/doctor.md#what-if-the-source-were-changed)). Each change is a switch \
of the program, so that it can be made. The page is made by the test `evidence/fidelity/tests/what_if`; the \
program is `program.c` there. What stands below the tables is written by hand.

Two threads think for 20 µs on average, exponentially distributed, take a mutex, write the lines of data that \
it protects, compute, and let it go, for two thirds of a second of computing together. Only the unchanged program is profiled.

* **Against the truth, simulated**: *true* is the gain on 48 cores by the simulation of the true parameters of \
  the changed program and of the unchanged one; *said* is what the forecast makes of the profile, with its band. \
  The simulator and its locks are the same for both, so that this shows what is lost between measuring, \
  translating and changing, and nothing of the simulator's own errors.
* **Against the clock**: *timed* is the gain of the changed program over the unchanged one on the two cores that \
  are here: the median of up to nine rounds, in each of which all run in turn, with the interval in which the \
  median lies nineteen times in twenty. *said here* is the forecast for these two cores, on a machine file that \
  `kilocore record machine` has just made; *true here* is the simulation of the true parameters on it. Rounds \
  in which threads that were ready had no core for a twentieth of the time more than in the least disturbed one are \
  left out, and with fewer than six others a row is withheld.

*hot*: one of the locks gets so much of all uses, and the others get the rest equally; a lock that is split gets \
its uses divided equally. *inner*: another lock is taken inside, and held for so long; of *inner* that one is changed, \
and of *outer* the one around it. *lines found* and *serial found* are what the forecast makes of the profile. A `–` in *said* is a change of \
which the forecast does not speak: the lock costs less than a twentieth of the time, or, where a lock costs more, a barrier or \
serial part brings less than a tenth.

";

/// The name of a change, as the doctor writes it.
fn words(change: Change) -> String {
    match change {
        Change::HalfAsLong => "half as much done under it".to_owned(),
        Change::HalfBefore => "half of it done before".to_owned(),
        Change::Split(parts) => format!("split into {parts}"),
        Change::ReadersShare => "readers share it".to_owned(),
        Change::PerThread => "one for each thread".to_owned(),
        Change::HalfTheBarriers => "half as many barriers".to_owned(),
        Change::HalfTheSerialPart => "serial part half as long".to_owned(),
    }
}

fn error(said: f64, gain: f64) -> f64 {
    (said / gain - 1.0).abs()
}

/// The changes of which the forecast for the most cores speaks.
fn spoken_of(studied: &[Studied]) -> impl Iterator<Item = (&Row, ForecastGain)> {
    studied.iter().flat_map(|of| &of.rows).filter_map(|row| Some((row, row.said?)))
}

/// Errors of what is said of changes on the most cores.
pub(crate) fn errors(studied: &[Studied]) -> Vec<f64> {
    spoken_of(studied).map(|(row, said)| error(said.gain, row.true_gain)).collect()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn signed(said: f64, gain: f64) -> String {
    format!("{:+.0} %", (said / gain - 1.0) * 100.0)
}

fn with_band(gain: f64, low: f64, high: f64) -> String {
    format!("{gain:.2} ({low:.2}–{high:.2})")
}

fn band(said: Option<ForecastGain>) -> String {
    said.map_or("–".to_owned(), |of| with_band(of.gain, of.low, of.high))
}

/// Whether what is said of a change here has the sign that the clock gives.
fn sign(row: &Row) -> Option<&'static str> {
    let (timed, said) = (row.timed?, row.said_here?);
    Some(match (timed.is_open(), (timed.gain > 1.0) == (said.gain > 1.0)) {
        (true, _) => "open",
        (false, true) => "right",
        (false, false) => "wrong",
    })
}

fn programs(studied: &[Studied]) -> String {
    let columns = [
        ("program", Left),
        ("hold", Right),
        ("lines", Right),
        ("locks", Right),
        ("hot", Right),
        ("inner", Right),
        ("serial", Right),
        ("barriers", Right),
        ("lines found", Right),
        ("serial found", Right),
        ("verdict", Left),
        ("table in doctor", Left),
    ];
    let row = |of: &Studied| {
        let program = &of.program;
        let all = THINK_NS * (1.0 + program.serial_share) + program.hold_ns + program.inner_ns;
        vec![
            program.name.to_owned(),
            format!("{} ns", program.hold_ns),
            program.lines.to_string(),
            program.locks.to_string(),
            if program.hot > 0.0 { percent(program.hot) } else { "–".to_owned() },
            if program.inner_ns > 0.0 {
                format!("{} ns", program.inner_ns)
            } else {
                "–".to_owned()
            },
            // Of all computing, as the found one is.
            format!("{:.1} %", program.serial_share * THINK_NS / all * 100.0),
            if program.rounds > 1 { program.rounds.to_string() } else { "–".to_owned() },
            format!("{:.1}", of.lines_found),
            format!("{:.1} %", of.serial_found * 100.0),
            of.verdict.words().to_owned(),
            if of.shown { "yes" } else { "no" }.to_owned(),
        ]
    };
    table(&columns, &studied.iter().map(row).collect::<Vec<_>>())
}

/// The table of all changes of programs.
pub(crate) fn rows(studied: &[Studied]) -> String {
    let columns: [(&str, Align); 10] = [
        ("program", Left),
        ("change", Left),
        ("true", Right),
        ("said", Right),
        ("error", Right),
        ("timed", Right),
        ("true here", Right),
        ("said here", Right),
        ("error here", Right),
        ("sign", Left),
    ];
    let cells = |name: &str, row: &Row| {
        let timed = row.timed.map(|t| with_band(t.gain, t.interval.0, t.interval.1));
        let here = row.said_here.zip(row.timed).map(|(said, timed)| signed(said.gain, timed.gain));
        let none = || "–".to_owned();
        vec![
            name.to_owned(),
            words(row.change),
            format!("{:.2}", row.true_gain),
            band(row.said),
            row.said.map_or_else(none, |said| signed(said.gain, row.true_gain)),
            timed.unwrap_or_else(|| "withheld".to_owned()),
            format!("{:.2}", row.true_here),
            band(row.said_here),
            here.unwrap_or_else(none),
            sign(row).unwrap_or("–").to_owned(),
        ]
    };
    let rows: Vec<_> = studied
        .iter()
        .flat_map(|of| of.rows.iter().map(|row| cells(of.program.name, row)))
        .collect();
    table(&columns, &rows)
}

/// How far several answers are from what they are about.
fn scores(answers: &[(String, Vec<f64>)]) -> String {
    let columns = [
        ("answer", Left),
        ("rows", Right),
        ("median error", Right),
        ("worst", Right),
        ("within 15 %", Right),
    ];
    let row = |(answer, errors): &(String, Vec<f64>)| {
        let near = errors.iter().filter(|error| **error <= ALLOWED).count();
        vec![
            answer.clone(),
            errors.len().to_string(),
            median(errors.iter().copied())
                .map_or("–".to_owned(), |e| format!("{:.1} %", e * 100.0)),
            percent(errors.iter().copied().fold(0.0, f64::max)),
            percent(near as f64 / errors.len().max(1) as f64),
        ]
    };
    table(&columns, &answers.iter().map(row).collect::<Vec<_>>())
}

/// Of the programs of whose changes the forecast speaks: in how many the change that it puts first brings
/// what the truly best one brings, but for the allowed error.
fn best_found(studied: &[Studied]) -> (usize, usize) {
    let found = |of: &&Studied| {
        let best = of.rows.iter().map(|row| row.true_gain).fold(0.0, f64::max);
        let said = |row: &&Row| row.said.map_or(0.0, |said| said.gain);
        let first = of.rows.iter().max_by(|a, b| said(a).total_cmp(&said(b)));
        first.is_some_and(|row| row.true_gain >= best * (1.0 - ALLOWED))
    };
    let speaks = |of: &&Studied| of.rows.iter().any(|row| row.said.is_some());
    let all: Vec<&Studied> = studied.iter().filter(speaks).collect();
    (all.iter().filter(|of| found(of)).count(), all.len())
}

fn against_the_truth(studied: &[Studied], machine: &Description) -> String {
    let most = CORES[CORES.len() - 1];
    let of = |answer: fn(&Row) -> f64| {
        spoken_of(studied).map(|(row, _)| error(answer(row), row.true_gain)).collect::<Vec<_>>()
    };
    let shown = studied.iter().filter(|of| of.shown).flat_map(|of| &of.rows);
    let in_doctor = shown.filter_map(|row| Some(error(row.said?.gain, row.true_gain)));
    let answers = [
        ("the forecast".to_owned(), errors(studied)),
        ("the forecast, where the doctor shows it".to_owned(), in_doctor.collect()),
        ("no change brings anything".to_owned(), of(|_| 1.0)),
        (
            "everything scales with what was changed".to_owned(),
            of(|row| if_all_scaled(row.change, CORES[CORES.len() - 1])),
        ),
    ];
    let (covered, all) = (
        spoken_of(studied)
            .filter(|(row, said)| said.low <= row.true_gain && row.true_gain <= said.high),
        spoken_of(studied).count(),
    );
    let (best, of) = best_found(studied);
    let unsaid = studied.iter().flat_map(|of| &of.rows).filter(|row| row.said.is_none());
    let unsaid: Vec<f64> = unsaid.map(|row| row.true_gain).collect();
    let mut text = scores(&answers);
    write!(
        text,
        "\n\nOn {most} cores of {}. The band holds the true gain in {} of {all} rows. In {best} of {of} \
         programs, the change that the forecast puts first brings what the truly best one does, or at most \
         15 % less. Of {} changes it does not speak",
        machine.name,
        covered.count(),
        unsaid.len(),
    )
    .unwrap();
    if !unsaid.is_empty() {
        let least = unsaid.iter().copied().fold(f64::INFINITY, f64::min);
        let most = unsaid.iter().copied().fold(0.0, f64::max);
        write!(text, "; these truly bring {least:.2} to {most:.2} times").unwrap();
    }
    text + ".\n"
}

fn against_the_clock(studied: &[Studied], host: &str) -> String {
    let rows: Vec<&Row> = studied.iter().flat_map(|of| &of.rows).collect();
    let of = |answer: fn(&Row) -> Option<f64>| {
        let compared = rows.iter().filter(|row| row.said_here.is_some());
        compared.filter_map(|row| Some(error(answer(row)?, row.timed?.gain))).collect::<Vec<_>>()
    };
    let answers = [
        ("the forecast".to_owned(), of(|row| Some(row.said_here?.gain))),
        ("the true parameters, simulated".to_owned(), of(|row| Some(row.true_here))),
        ("no change brings anything".to_owned(), of(|_| Some(1.0))),
        (
            "everything scales with what was changed".to_owned(),
            of(|row| Some(if_all_scaled(row.change, crate::CORES_HERE[1]))),
        ),
    ];
    let signs = |wanted: &str| rows.iter().filter(|row| sign(row) == Some(wanted)).count();
    let withheld = rows.iter().filter(|row| row.timed.is_none()).count();
    let rounds = median(rows.iter().filter_map(|row| Some(row.timed?.rounds as f64)));
    format!(
        "{}\n\nThe sign is right in {} rows, wrong in {}, and open in {}, as the interval of the clock \
         includes 1. {withheld} rows of {} are withheld, as too many rounds were disturbed; the others have \
         {} undisturbed rounds (median). Measured on {host}\n",
        scores(&answers),
        signs("right"),
        signs("wrong"),
        signs("open"),
        rows.len(),
        rounds.map_or("no".to_owned(), |rounds| rounds.to_string()),
    )
}

/// The page, but for what is written by hand.
pub(crate) fn page(studied: &[Studied], machine: &Description, host: &str) -> String {
    assert!((THINK_NS - 20_000.0).abs() < 1.0, "the page says so");
    format!(
        "{INTRODUCTION}## Against the truth, simulated\n\n{}\n## Against the clock\n\n{}\n## The \
         programs\n\n{}\n\n## All changes\n\n{}\n",
        against_the_truth(studied, machine),
        against_the_clock(studied, host),
        programs(studied),
        rows(studied),
    )
}
