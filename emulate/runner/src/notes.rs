//! What is said below the table of how a program scales.

use kilocore_emulation_orders::{Orders, Report, Seen, Window};
use kilocore_show::number;

use crate::cycles::CyclesFrom;
use crate::row::{self, shares};
use crate::{Runs, Variant, known, window};

/// Runs of which the longest takes no more times as long as the shortest are as long as each other.
const EQUAL: f64 = 1.0005;
/// The same of runs on different numbers of cores, of a program that works for a set time.
const SET_TIME: f64 = 1.02;
/// By how many times more cores have to be busy then.
const BUSIER: f64 = 1.5;

/// What to say of a program that did not get the pipe that was to be its input.
pub const PIPE_LEFT_OUT: &str =
    "Its input was empty, as a pipe cannot be read again for each run; `< FILE` can";

/// A program whose runs are shown.
pub(crate) struct Shown<'a> {
    pub(crate) orders: &'a Orders,
    pub(crate) cycles_from: CyclesFrom,
    /// Whether somebody gave a pipe for its input, which it did not get.
    pub(crate) pipe_left_out: bool,
    /// The part of it that was asked for, in words.
    pub(crate) part: &'a str,
    /// Its runs under each choice of locks.
    pub(crate) variants: &'a [Variant],
}

/// The lines about it.
pub(crate) fn of(shown: &Shown<'_>) -> Vec<String> {
    let &Shown { orders, cycles_from, pipe_left_out, part, variants } = shown;
    let mut lines = vec![
        "faster: times as fast as on the fewest cores; alone: before the first thread that the"
            .to_owned(),
        "program makes and after the last one; threads faster: the same of what is between"
            .to_owned(),
    ];
    if pipe_left_out {
        lines.push(format!("{PIPE_LEFT_OUT}."));
    }
    lines.extend(chance(variants));
    lines.extend(set_time(variants));
    lines.extend(elsewhere(variants));
    if cycles_from == CyclesFrom::Estimated {
        lines.extend(cycles(orders.cycles_per_instruction));
    }
    let runs = row::of(variants).map(|row| (row.variant.said(), row.cores, row.runs));
    lines.extend(known::lines(&runs.collect::<Vec<_>>()));
    lines.extend(window_of(&orders.window, part, variants));
    lines
}

/// What is said of runs that differ by chance only.
fn chance(variants: &[Variant]) -> Vec<String> {
    let all = || row::of(variants).map(|row| row.runs);
    let most = all().map(|runs| runs.all().len()).max().unwrap_or(1);
    if all().all(Runs::have_one_thread) {
        return Vec::new();
    }
    if most == 1 {
        return vec!["One run each: how much chance matters is not known.".to_owned()];
    }
    if all().any(Runs::differ) {
        let shown = match most {
            2 => "the quicker of two runs".to_owned(),
            _ => format!("the median of {most} runs"),
        };
        return vec![
            format!(
                "Chance decides how long it takes. Where it does, {shown} that differ by nothing"
            ),
            "else is shown; by chance: the shortest and the longest of these runs".to_owned(),
        ];
    }
    let widest = all().map(Runs::spread).fold(1.0, f64::max);
    let within = match widest {
        ..EQUAL => String::new(),
        _ => format!(", to {}", number::percent(widest - 1.0)),
    };
    vec![format!("A second run each, with other chance, takes as long{within}.")]
}

/// Whether a program takes as long on any number of cores and keeps more of them busy, as those do that work for a set
/// time.
pub(crate) fn takes_a_set_time(own: &Variant) -> bool {
    let reports = || own.points.iter().map(|(cores, runs)| (*cores, &runs.shown().report));
    let busy = |(cores, report): (u32, &Report)| {
        let [working, stalled, spinning, system, _] = shares(cores, report.end_ns, &report.threads);
        f64::from(cores) * (working + stalled + spinning + system)
    };
    let (Some(first), Some(last)) = (reports().next().map(busy), reports().next_back().map(busy))
    else {
        return false;
    };
    take_as_long(reports().map(|(_, report)| report)) && last >= BUSIER * first
}

/// Whether runs take so equally long that it may be a time that was set.
pub(crate) fn take_as_long<'a>(reports: impl Iterator<Item = &'a Report>) -> bool {
    let ends = |(least, most): (f64, f64), report: &Report| {
        (least.min(report.end_ns), most.max(report.end_ns))
    };
    let (least, most) = reports.fold((f64::INFINITY, 0.0), ends);
    most <= SET_TIME * least
}

fn set_time(variants: &[Variant]) -> Vec<String> {
    if !variants.first().is_some_and(takes_a_set_time) {
        return Vec::new();
    }
    vec![
        "It takes as long on each number of cores and keeps more of them busy, as programs do that work for a".to_owned(),
        "set time. What they did in it is not in these figures, but in what they print.".to_owned(),
    ]
}

/// What the figures do not have, as it was not simulated.
fn elsewhere(variants: &[Variant]) -> Vec<String> {
    let reports = || row::of(variants).map(|row| &row.runs.shown().report);
    let mut lines = Vec::new();
    if reports().any(|report| report.counts.outside > 0) {
        lines.extend([
            "It waits for what is not simulated, such as input, networks, other programs or timers of other kinds. No"
                .to_owned(),
            "simulated time passes in that. Where others decide when it goes on or ends, times and gains say little."
                .to_owned(),
        ]);
    }
    if reports().any(|report| report.counts.processes > 0) {
        lines.extend([
            "The program starts other processes. What they do is in none of these figures;"
                .to_owned(),
            "if it only starts the one that works, as a script does, emulate that one.".to_owned(),
        ]);
    }
    lines
}

/// What an instruction takes, where nobody has said so.
fn cycles(taken: f64) -> [String; 2] {
    [
        format!(
            "An instruction that waits for nothing takes {taken} cycle, as for all programs. At a lock or a barrier this"
        ),
        "decides how it scales: `--cycles-per-instruction measured` takes it from the program's time here.".to_owned(),
    ]
}

/// What is said of the part that was asked for.
fn window_of(window: &Window, part: &str, variants: &[Variant]) -> Vec<String> {
    let mut lines = Vec::new();
    if !window.is_whole() {
        lines.push(format!("All of it is about the part{} only.", part));
    }
    if begins_cold(variants) {
        lines.push(
            "Caches are empty where it begins: loads and stores were not simulated before."
                .to_owned(),
        );
        if let Some(warm) = &window.warm {
            lines.push(format!(
                "({} {warm} was not reached before that; name what comes earlier)",
                window::WARM
            ));
        }
    }
    lines
}

/// Whether loads and stores were not simulated up to where the part begins.
fn begins_cold(variants: &[Variant]) -> bool {
    let is_cold = |seen: Seen| seen.from_ns > Some(0.0) && seen.detailed_ns == seen.from_ns;
    row::of(variants).any(|row| row.runs.shown().report.seen.is_some_and(is_cold))
}
