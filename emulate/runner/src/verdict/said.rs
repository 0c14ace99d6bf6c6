//! Verdicts in sentences.

use kilocore_emulation_orders::Report;
use kilocore_figures::Shape;
use kilocore_show::number::nanoseconds;

use super::figures::{capital, figures};
use super::why::{self, points};
use super::{Curve, Verdict, Why, gains, spent};
use crate::cycles::CyclesFrom;
use crate::notes::take_as_long;
use crate::words::{as_fast, number_of, part, range, rounded};
use crate::{Runs, Variant};

/// What a verdict is about, besides the runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// The program, as somebody would type it.
    pub(crate) command: &'a str,
    /// The part of it that was asked for, in words: ` from solve until exit`.
    pub(crate) part: &'a str,
    pub(crate) cycles_from: CyclesFrom,
    pub(crate) cycles_per_instruction: f64,
}

/// The answer about a program as it is, and under the locks that make most of it, if there are any. The first paragraph is
/// the answer, the others explain it.
pub(crate) fn answer(scope: Scope<'_>, variants: &[Variant]) -> Vec<String> {
    let Some(own) = variants.first().filter(|own| !own.points.is_empty()) else {
        return Vec::new();
    };
    let verdict = Verdict::of(own);
    let mut paragraphs = vec![headline(scope, own, verdict)];
    let why = explained(scope, own, verdict);
    paragraphs.extend((!why.is_empty()).then(|| why.join(" ")));
    paragraphs.extend(gains::said(variants));
    paragraphs
}

fn headline(scope: Scope<'_>, own: &Variant, verdict: Verdict) -> String {
    let marks = format!(" ({})", marks(scope, own, verdict));
    match verdict {
        Verdict::Shape(shape) => {
            let (word, figures) = (capital(shape), figures(own, shape));
            match shape {
                Shape::Scales => format!("{word} to {figures}{marks}."),
                Shape::Flattens | Shape::Collapses => format!("{word}{figures}{marks}."),
            }
        }
        Verdict::NoThreads => {
            format!("It makes no threads: more cores do nothing for it{marks}.")
        }
        Verdict::Unknown(why) => unknown(own, why, &marks),
    }
}

/// How surely it is known, and of what.
fn marks(scope: Scope<'_>, own: &Variant, verdict: Verdict) -> String {
    let mut marks = vec![format!("emulated{}", scope.part)];
    if !matches!(verdict, Verdict::Shape(_) | Verdict::Unknown(Why::MoreWork)) {
        return marks.concat();
    }
    let is_once = |(_, runs): &(u32, Runs)| runs.all().len() == 1 && !runs.have_one_thread();
    if own.points.iter().any(is_once) {
        marks.push("one run on each number of cores".to_owned());
    }
    let last = own.points.last().filter(|_| own.differs());
    if let Some(ratios) = last.map(|(_, runs)| own.speedups(runs)) {
        let is_one = rounded(*ratios.start()) == rounded(*ratios.end());
        marks.extend((!is_one).then(|| format!("by chance, {}", range(&ratios))));
    }
    let is_assumed = scope.cycles_from == CyclesFrom::Estimated;
    if is_assumed && matches!(verdict, Verdict::Shape(_)) && spent::threads_meet(own) {
        marks.push(format!("if an instruction takes {} cycle", scope.cycles_per_instruction));
    }
    marks.join("; ")
}

/// That there is no verdict, why, and what would give one.
fn unknown(own: &Variant, why: Why, marks: &str) -> String {
    let reports = || own.points.iter().map(|(cores, runs)| (*cores, &runs.shown().report));
    let last = reports().next_back();
    let cores = last.map_or(0, |(cores, _)| cores);
    let speedup = last.map_or(1.0, |(_, report)| own.speedup(report));
    let beside = |ratio: f64| {
        let fewest = own.points.first().map_or(1, |(cores, _)| *cores);
        format!("{} on {} as on {fewest}", as_fast(ratio), number_of(cores, "core"))
    };
    match why {
        Why::EndedBadly => {
            let bad = points(own).find(|(_, point)| point.ended_badly());
            let how = bad.map_or_else(String::new, |(cores, point)| {
                let on = number_of(cores, "core");
                if point.interrupted {
                    return format!("the run on {on} was interrupted");
                }
                // It says whether that is a status or a signal.
                format!("a run on {on} ended with {}", point.status)
            });
            format!("Not known how it scales: {how}, so times say nothing{marks}.")
        }
        Why::Processes => format!(
            "Not known how it scales: it starts other processes, and what these do is not simulated{marks}. The program \
             that does the work can be emulated by itself."
        ),
        Why::Outside => {
            let times = last.map_or(0, |(_, report)| report.counts.outside);
            let so_far = match own.points.len() {
                1 => String::new(),
                _ => format!(" By what is simulated, it is {}.", beside(speedup)),
            };
            format!(
                "Not known how it scales: it waits for what is not simulated ({} on {}), and whoever ends these waits \
                 may decide how long it takes{marks}.{so_far} The same work without them, such as with its input in \
                 a file, would tell.",
                often(times),
                number_of(cores, "core")
            )
        }
        Why::OneCount => format!(
            "Not known how it scales: it ran on {} only{marks}. More numbers for `--cores` would tell.",
            number_of(cores, "core")
        ),
        Why::SetTime => format!(
            "Not known how it scales: it takes as long on each number of cores and keeps more of them busy, so it does \
             more there{marks}. What it prints may say how much. Told how much to do, and not for how long, it would \
             show here how it scales."
        ),
        Why::MoreWork => {
            let fewest = own.points.first().map_or(1, |(cores, _)| *cores);
            let each = speedup * f64::from(cores) / f64::from(fewest);
            format!(
                "Not known how it scales: on {} it computes {} times as much as on {fewest}, as programs do whose every \
                 thread has work of its own, or whose threads try again and again{marks}. If each thread has work of its own, it does {} times as much there in the same \
                 time; if the work is the same, it is {}. The same work on each number of cores would tell.",
                number_of(cores, "core"),
                rounded(why::more_work(own).unwrap_or(1.0)),
                rounded(each),
                as_fast(speedup)
            )
        }
        Why::Chance => {
            let curve = Curve::of(own, |report| Some(report.end_ns));
            let words = curve.map_or_else(String::new, |curve| {
                let [worst, best] = curve.shapes().map(Shape::name);
                format!("whether it {best} or {worst}")
            });
            let ratios = own.points.last().map(|(_, runs)| range(&own.speedups(runs)));
            format!(
                "Not known {words}: chance decides. It is {}, in other runs {}{marks}. A longer input may tell.",
                beside(speedup),
                ratios.unwrap_or_default()
            )
        }
    }
}

fn often(times: u64) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}

/// What makes it so, and what the word does not say.
fn explained(scope: Scope<'_>, own: &Variant, verdict: Verdict) -> Vec<String> {
    let is_sized = ["{cores}", "{threads}"].iter().any(|word| scope.command.contains(word));
    if verdict == Verdict::NoThreads {
        let put = "If it can be told how many to make, put {cores} there in its command.";
        let larger = "It may make some with a larger input.";
        return vec![if is_sized { larger.to_owned() } else { put.to_owned() }];
    }
    let Some((cores, runs)) = own.points.last() else { return Vec::new() };
    let (cores, point) = (*cores, runs.shown());
    let report = &point.report;
    let shape = match verdict {
        Verdict::Shape(shape) => shape,
        Verdict::Unknown(Why::Chance | Why::MoreWork) => {
            return spent::said(cores, point, None).into_iter().collect();
        }
        Verdict::NoThreads | Verdict::Unknown(_) => return Vec::new(),
    };
    let mut lines = Vec::new();
    lines.extend(threads_apart(own, shape));
    lines.extend(spent::alone(report).filter(|_| shape != Shape::Scales).map(|alone| {
        format!(
            "Of the time on {}, {} ({}) is before its first thread and after its last one.",
            number_of(cores, "core"),
            part(alone),
            nanoseconds(report.serial_ns())
        )
    }));
    lines.extend(spent::said(cores, point, Some(shape)));
    lines.extend(as_many_threads(own, is_sized));
    if shape != Shape::Scales {
        lines.extend(why::more_work(own).map(|more| {
            format!(
                "It computes {} times as much there as on {}; if each thread has work of its own, it {} all the same.",
                rounded(more),
                own.points.first().map_or(1, |(cores, _)| *cores),
                shape.name()
            )
        }));
        let reports = own.points.iter().map(|(_, runs)| &runs.shown().report);
        lines.extend(take_as_long(reports).then(|| {
            "If it works for a set time, that says nothing: what it prints does.".to_owned()
        }));
    }
    lines
}

/// What it does while it has threads, if that is something else than the whole does.
fn threads_apart(own: &Variant, whole: Shape) -> Option<String> {
    let apart = Curve::of(own, |report: &Report| report.parallel.map(|span| span.ns()))?;
    let shape = apart.shape().filter(|shape| *shape != whole)?;
    let (first, last) = (apart.0[0], apart.last());
    Some(format!(
        "While it has threads it {}: {} on {} as on {}.",
        shape.name(),
        as_fast(first.ns / last.ns),
        number_of(last.cores, "core"),
        first.cores
    ))
}

/// That it makes as many threads on each number of cores.
fn as_many_threads(own: &Variant, is_sized: bool) -> Option<String> {
    let count = |runs: &Runs| runs.shown().report.threads.len();
    let (_, first) = own.points.first()?;
    let threads = count(first);
    let is_same = own.points.iter().all(|(_, runs)| count(runs) == threads);
    let told =
        if is_sized { "" } else { ", and nothing in its command tells it how many ({cores})" };
    (is_same && threads > 1)
        .then(|| format!("It has {threads} threads on each number of cores{told}."))
}
