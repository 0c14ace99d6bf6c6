//! What a comparison of two profiles says, in sentences.

use crate::{Comparison, Measure, NoiseSource, Owner, Times};
use kilocore_show::number;

/// A part of the loss below this is not worth a sentence.
const WORTH_MENTION: f64 = 0.05;

/// A figure in the comparison's measure per unit of work.
pub(crate) fn per_unit(comparison: &Comparison, value: f64) -> String {
    match &comparison.measure {
        Measure::Nanoseconds | Measure::Waiting => number::nanoseconds(value),
        other => number::engineering(value, other.name()),
    }
}

/// The same with its sign.
pub(crate) fn signed(comparison: &Comparison, value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", per_unit(comparison, value))
}

/// What threads were doing in the time that was measured.
pub(crate) fn threads_are(measure: &Measure) -> &'static str {
    match measure {
        Measure::Asleep => "asleep",
        Measure::Waiting => "waiting",
        Measure::Nanoseconds | Measure::Samples | Measure::Events(_) => "on processors",
    }
}

/// A loss of the comparison.
fn loss(comparison: &Comparison, times: Times) -> f64 {
    times.loss(comparison.works).per_unit(comparison.works)
}

/// Beyond this share, core time that samples do not explain is said.
const UNEXPLAINED: f64 = 0.05;

/// The answer: how far the program scales, what it loses and where.
pub(crate) fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(speedup(comparison));
    said.extend(off_processors(comparison));
    said.push(total(comparison));
    if comparison.total_loss().numerator > 0 {
        said.push(culprit(comparison));
        said.extend(locks(comparison));
    }
    said
}

/// How uncertain the figures are and why.
pub(crate) fn about_noise(comparison: &Comparison) -> String {
    let noise = number::percent(comparison.run_noise.relative);
    let source = match comparison.run_noise.source {
        NoiseSource::Measured(freedom) => {
            format!(
                "from the repeated runs ({freedom} degrees of freedom) and, as they are few, from \
                 what is assumed of any machine"
            )
        }
        NoiseSource::Given => "as given".to_owned(),
        NoiseSource::Assumed => {
            "assumed, as there is one run of each side; give folders of several to measure it"
                .to_owned()
        }
    };
    format!(
        "± is a 95 % interval from the numbers of samples and from how much runs differ: by {noise}, \
         {source}. ● stands out from noise, with the number of functions taken into account; ○ \
         does not."
    )
}

fn speedup(comparison: &Comparison) -> Option<String> {
    let speedup = comparison.speedup()?;
    let (base, scaled) = (comparison.base.cores?, comparison.scaled.cores?);
    let linear = speedup / comparison.core_ratio()?;
    if scaled <= base {
        let both = if scaled == base {
            "both had as many cores"
        } else {
            "the scaled side had fewer cores"
        };
        return Some(format!(
            "On {} the program does {} times the work that it does on {} in the same time. That says \
             nothing of how it scales, as {both}: name a profile on few cores, then one on many.",
            cores(scaled),
            number::figure(speedup),
            cores(base)
        ));
    }
    Some(format!(
        "On {} the program does {} times the work that it does on {} in the same time: {} of a \
         linear speedup.",
        cores(scaled),
        number::figure(speedup),
        cores(base),
        number::percent(linear)
    ))
}

fn cores(count: u32) -> String {
    if count == 1 { "one core".to_owned() } else { format!("{count} cores") }
}

/// What the speedup tells of time that no sample shows, if that is most of what is lost.
fn off_processors(comparison: &Comparison) -> Option<String> {
    let unexplained = comparison.unexplained().filter(|&share| share > UNEXPLAINED)?;
    let ratio = comparison.core_time_ratio()?;
    Some(format!(
        "A unit of work takes {} times as much time of its cores, and samples of {} do not show why: \
         in {} of that time its threads slept, other programs had the cores, or the cores ran more \
         slowly. 'kilocore doctor -- COMMAND' sees threads that wait for locks; with --clock, the \
         cycles of a profile become time.",
        number::figure(ratio),
        comparison.measure.name(),
        number::percent(unexplained)
    ))
}

fn total(comparison: &Comparison) -> String {
    let total = comparison.total_loss();
    let value = total.per_unit(comparison.works);
    // What is known of it: all of its time, or only what was on processors.
    let known = match (&comparison.measure, comparison.idle) {
        (_, Some(_)) => String::new(),
        (measure, None) => format!(" {}", threads_are(measure)),
    };
    if total.numerator <= 0 {
        let more_cores = comparison.core_ratio().is_none_or(|ratio| ratio > 1.0);
        let so = match (comparison.idle, comparison.unexplained()) {
            _ if !more_cores => "",
            (Some(_), _) => ": it scales as far as was looked",
            (None, Some(share)) if share <= UNEXPLAINED => ": it scales as far as was looked",
            (None, Some(_)) => "; what it loses is not there",
            (None, None) if comparison.measure.is_off_processors() => "",
            (None, None) => {
                "; whether its threads slept more, the profiles do not say (give the cores, the work \
                 and the time of both)"
            }
        };
        return format!(
            "A unit of work takes no more{known} than before ({}){so}.",
            signed(comparison, value)
        );
    }
    let mut text = format!("A unit of work takes {} more{known}", per_unit(comparison, value));
    if let Some(idle) = comparison.idle {
        text += &format!(
            ": {} on processors and {} in which its cores did not run it, as its threads slept or \
             other programs had them",
            signed(comparison, comparison.busy_loss().per_unit(comparison.works)),
            signed(comparison, loss(comparison, idle))
        );
    }
    text + "."
}

fn culprit(comparison: &Comparison) -> String {
    let worst = comparison.code.iter().find(|row| row.function.is_some());
    let Some((row, function)) = worst.and_then(|row| Some((row, row.function?))) else {
        return "No function of the program is on any stack.".to_owned();
    };
    if !row.uncertainty.above_noise {
        return "No function of the program stands out from noise.".to_owned();
    }
    let times = row.charged.times();
    let share = times.loss(comparison.works).share_of(comparison.busy_loss());
    let name = comparison.tree.function(function).to_string();
    let whose = threads_are(&comparison.measure);
    let mut text = format!(
        "Of the time {whose}, most is lost in {name}, with what libraries and the kernel do \
         for it: {} ± {}",
        signed(comparison, loss(comparison, times)),
        per_unit(comparison, row.uncertainty.margin),
    );
    // Where others gain, one may lose more than all together.
    if let Some(share) = share.filter(|share| (0.0..=1.0).contains(share)) {
        text += &format!(", {} of it", number::percent(share));
    }
    let top = comparison.functions.first().filter(|top| top.function != function);
    if let Some(top) = top.filter(|top| top.exclusive_uncertainty.above_noise) {
        let itself = comparison.tree.function(top.function);
        let whose = match Owner::of(itself) {
            Owner::Kernel => " of the kernel",
            Owner::Library => " of a library",
            Owner::Program | Owner::Unknown => "",
        };
        text += &format!("; of single functions, {itself}{whose} grows most");
    }
    text + "."
}

fn locks(comparison: &Comparison) -> Vec<String> {
    let whole = comparison.total_loss();
    let mut said = Vec::new();
    let user = comparison.locks.user.share_of(whole).unwrap_or(0.0);
    if user > WORTH_MENTION {
        said.push(format!(
            "{} of the loss is in the code of the program's locks: 'kilocore doctor -- COMMAND' \
             says which of them, and which algorithm would help.",
            number::percent(user)
        ));
    }
    let kernel = comparison.locks.kernel.share_of(whole).unwrap_or(0.0);
    if kernel > WORTH_MENTION {
        said.push(format!(
            "{} of the loss is in locks of the kernel: what the program asks of it at once, and \
             the contexts below which they are taken, is what can be changed.",
            number::percent(kernel)
        ));
    }
    said
}
