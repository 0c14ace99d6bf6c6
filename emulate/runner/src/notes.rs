//! What is said below the table of how a program scales.

use kilocore_emulation_orders::{Report, Seen};
use kilocore_show::number;

use crate::study::{CyclesFrom, Emulated};
use crate::{Runs, known, window};

/// Runs of which the longest takes no more times as long as the shortest are as long as each other.
const EQUAL: f64 = 1.0005;
/// The same of runs on different numbers of cores, of a program that works for a set time.
const SET_TIME: f64 = 1.02;
/// By how many times more cores have to be busy then.
const BUSIER: f64 = 1.5;

/// Its lines.
pub(crate) fn of(emulated: &Emulated) -> Vec<String> {
    let mut lines = vec![
        "faster: times as fast as on the fewest cores; alone: before the first thread that the"
            .to_owned(),
        "program makes and after the last one; threads faster: the same of what is between"
            .to_owned(),
    ];
    lines.extend(chance(emulated));
    lines.extend(set_time(emulated));
    lines.extend(elsewhere(emulated));
    lines.extend(cycles(emulated));
    let shown = emulated.rows().map(|row| (row.variant.said(), row.cores, row.runs));
    lines.extend(known::lines(&shown.collect::<Vec<_>>()));
    lines.extend(part(emulated));
    lines
}

/// What is said of runs that differ by chance only.
fn chance(emulated: &Emulated) -> Vec<String> {
    let all = || emulated.rows().map(|row| row.runs);
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

/// A program that works for a set time takes as long on any number of cores.
fn set_time(emulated: &Emulated) -> Vec<String> {
    let Some(own) = emulated.variants.first() else { return Vec::new() };
    let reports = || own.points.iter().map(|(cores, runs)| (*cores, &runs.shown().report));
    let times = || reports().map(|(_, report)| report.end_ns);
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let busy = |(cores, report): (u32, &Report)| {
        let [working, stalled, spinning, system, _] = Emulated::shares(cores, report);
        f64::from(cores) * (working + stalled + spinning + system)
    };
    let (Some(first), Some(last)) = (reports().next().map(busy), reports().last().map(busy)) else {
        return Vec::new();
    };
    if most > SET_TIME * least || last < BUSIER * first {
        return Vec::new();
    }
    vec![
        "It takes as long on each number of cores, and keeps more of them busy: a program does so that works"
            .to_owned(),
        "for a set time. How much it did in that is not in these figures, but in what the program says itself."
            .to_owned(),
    ]
}

/// What the figures do not have, as it was not simulated.
fn elsewhere(emulated: &Emulated) -> Vec<String> {
    let reports = || emulated.rows().map(|row| &row.runs.shown().report);
    let mut lines = Vec::new();
    if reports().any(|report| report.counts.outside > 0) {
        lines.extend([
            "It waits for what is not simulated, such as input, other programs or timers of other kinds, or its own"
                .to_owned(),
            "threads by way of pipes and signals. No simulated time passes in that. Where others decide when it goes"
                .to_owned(),
            "on or ends, times and gains say little.".to_owned(),
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

/// What an instruction takes, if nobody has asked.
fn cycles(emulated: &Emulated) -> Vec<String> {
    if emulated.cycles_from != CyclesFrom::Estimated {
        return Vec::new();
    }
    vec![
        format!(
            "An instruction that waits for nothing takes {} cycle, as for all programs. Where locks are held for long, this",
            emulated.orders.cycles_per_instruction
        ),
        "decides how it scales: `--cycles-per-instruction measured` takes it from the program's time here.".to_owned(),
    ]
}

/// What is said of the part that was asked for.
fn part(emulated: &Emulated) -> Vec<String> {
    let window = &emulated.orders.window;
    let mut lines = Vec::new();
    if !window.is_whole() {
        lines.push(format!("All of it is about the part{} only.", emulated.part()));
    }
    if begins_cold(emulated) {
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
fn begins_cold(emulated: &Emulated) -> bool {
    let is_cold = |seen: Seen| seen.from_ns > Some(0.0) && seen.detailed_ns == seen.from_ns;
    emulated.rows().any(|row| row.runs.shown().report.seen.is_some_and(is_cold))
}
