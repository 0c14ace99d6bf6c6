//! Looks for reasons why a comparison is less reliable than it seems.

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::{
    Context, Facts, Format, Rate, Remark, SampledProfile, Unit, plain_event,
};

use crate::ownership::is_unnamed;
use crate::totals::SideTotals;
use crate::{Owner, Run, Tree, Warning};

/// With fewer samples than this, only large losses stand out, and a warning says so.
const FEW_SAMPLES: u64 = 1_000;
/// From this share of the time on, functions without names are worth a warning.
const MANY_UNNAMED: f64 = 0.05;
/// From this share of the samples on, a file without names is worth a warning.
const WORTH_NAMES: f64 = 0.01;
/// Rates count as different if they differ by more than this.
const SAME_RATE: f64 = 0.02;
/// A run that takes more than this many times as long as the other is worth a warning.
const MUCH_LONGER: f64 = 3.0;
/// From this share on, lost samples are worth a warning.
const MANY_LOST: f64 = 0.01;
/// From this ratio on, a program used more cores than it had. The excess over 1 allows for errors
/// of the sampler's clock.
const ABOVE_CORES: f64 = 1.05;
/// If this many samples are expected and there is none, that is not by chance.
const SURELY_SOME: f64 = 10.0;
/// From this share of the time on, functions that only one side has are worth a warning.
const FEW_IN_COMMON: f64 = 0.5;

/// Returns all warnings about a comparison of these runs, in the order in which they should be
/// read.
pub(crate) fn warnings(base: &[Run], scaled: &[Run], work_assumed: bool) -> Vec<Warning> {
    let mut found = Vec::new();
    if work_assumed {
        found.push(Warning::WorkAssumed);
    }
    for runs in [base, scaled] {
        if runs.iter().all(|run| run.cores.is_none()) {
            found.push(Warning::CoresUnknown { name: name_of(runs) });
        }
    }
    pairwise(base, scaled, &mut found);
    for runs in [base, scaled] {
        alone(runs, &mut found);
    }
    found
}

/// Returns what messages call the runs of a side.
fn name_of(runs: &[Run]) -> String {
    match runs {
        [run] => run.name.clone(),
        [first, ..] => format!("{} and {} more", first.name, runs.len() - 1),
        [] => String::new(),
    }
}

/// Warns of what the tree of both sides shows.
pub(crate) fn of_tree(tree: &Tree, base: &SideTotals, scaled: &SideTotals) -> Option<Warning> {
    let (mut own, mut all) = (0.0, 0.0);
    let mut by_function = vec![crate::Amounts::default(); tree.functions().len()];
    for (_, function, node) in tree.contexts() {
        by_function[function.index()].add(node.exclusive);
    }
    for amounts in &by_function {
        let share = |tally: kilocore_sampled_profile::Tally, side: &SideTotals| {
            tally.weight as f64 / (side.busy.weight.max(1)) as f64
        };
        let time = share(amounts.base, base) + share(amounts.scaled, scaled);
        all += time;
        if amounts.is_new() || amounts.has_vanished() {
            own += time;
        }
    }
    let share = if all > 0.0 { own / all } else { 0.0 };
    (share > FEW_IN_COMMON).then_some(Warning::FewFunctionsInCommon { share })
}

fn rate(run: &Run) -> Option<(f64, String)> {
    match (run.hertz(), run.profile.facts.rate) {
        (Some(hertz), _) => Some((hertz, format!("{hertz:.0} a second"))),
        (None, Some(Rate::Period(period))) => {
            Some((period as f64, format!("one in {period} {}", run.profile.unit)))
        }
        _ => None,
    }
}

/// Returns how much processor time a run took or, if that is not known, its wall-clock time.
fn seconds(run: &Run) -> Option<f64> {
    let facts: &Facts = &run.profile.facts;
    let time = match run.profile.unit {
        Unit::Nanoseconds => Some(Nanoseconds(run.profile.total().weight)),
        _ => run.elapsed.or(facts.duration).or(facts.span),
    };
    Some(time?.calculated().seconds())
}

fn has_stacks(run: &Run) -> bool {
    let contexts = &run.profile.contexts;
    contexts.iter().any(|(id, _)| contexts.stack(id).nth(1).is_some())
}

/// Returns the share of all samples that are in the kernel, from 0 to 1.
fn kernel_share(runs: &[Run]) -> f64 {
    let (mut kernel, mut all) = (0, 0);
    for run in runs {
        for (_, context) in run.profile.contexts.iter() {
            let of_kernel = context
                .function
                .is_some_and(|f| Owner::of(run.profile.functions.get(f)) == Owner::Kernel);
            kernel += if of_kernel { context.own.samples } else { 0 };
            all += context.own.samples;
        }
    }
    kernel as f64 / all.max(1) as f64
}

/// Returns whether a run's samples could be in the kernel at all. gperftools counts what the kernel
/// does for the code that called it, and waits are those of the program.
fn may_have_kernel(run: &Run) -> bool {
    run.profile.format != Format::GperftoolsCpu && run.profile.unit != Unit::Waiting
}

fn samples(runs: &[Run]) -> u64 {
    runs.iter().map(|run| run.profile.total().samples).sum()
}

/// Warns of a side without samples in the kernel, if there should be some by the share of the other
/// side.
fn without_kernel(base: &[Run], scaled: &[Run]) -> Option<Warning> {
    let lacks = |runs: &[Run], like: &[Run]| {
        let expected = kernel_share(like) * samples(runs) as f64;
        kernel_share(runs) == 0.0 && expected > SURELY_SOME
    };
    if kernel_share(base) == 0.0 && kernel_share(scaled) == 0.0 {
        let all = base.iter().chain(scaled);
        return all.into_iter().any(may_have_kernel).then_some(Warning::NoKernel);
    }
    let without = |runs| Some(Warning::KernelOnOneSide { without: name_of(runs) });
    if lacks(base, scaled) {
        return without(base);
    }
    lacks(scaled, base).then(|| without(scaled)).flatten()
}

/// Warns of differences between the two sides.
fn pairwise(all_base: &[Run], all_scaled: &[Run], found: &mut Vec<Warning>) {
    let (base, scaled) = (&all_base[0], &all_scaled[0]);
    let (own, others) = (&base.profile.facts, &scaled.profile.facts);
    if let (Some(base), Some(scaled)) = (&own.event, &others.event)
        && plain_event(base) != plain_event(scaled)
    {
        found.push(Warning::Events { base: base.clone(), scaled: scaled.clone() });
    }
    if let (Some((b, base)), Some((s, scaled))) = (rate(base), rate(scaled))
        && (b / s).max(s / b) > 1.0 + SAME_RATE
    {
        found.push(Warning::Rates { base, scaled });
    }
    if let (Some(base), Some(scaled)) = (&own.kernel, &others.kernel)
        && base != scaled
    {
        found.push(Warning::Kernels { base: base.clone(), scaled: scaled.clone() });
    }
    if let (Some(base), Some(scaled)) = (seconds(base), seconds(scaled))
        && base > 0.0
        && scaled > 0.0
        && (base / scaled).max(scaled / base) > MUCH_LONGER
    {
        found.push(Warning::Durations { base, scaled });
    }
    found.extend(without_kernel(all_base, all_scaled));
    match (has_stacks(base), has_stacks(scaled)) {
        (true, false) => found.push(Warning::StacksOnOneSide { without: scaled.name.clone() }),
        (false, true) => found.push(Warning::StacksOnOneSide { without: base.name.clone() }),
        _ => {}
    }
}

/// Warns of faults in the profiles of one side.
fn alone(runs: &[Run], found: &mut Vec<Warning>) {
    let name = || name_of(runs);
    let samples = samples(runs);
    if samples < FEW_SAMPLES {
        found.push(Warning::FewSamples { name: name(), samples });
    }
    let (mut unnamed, mut all, mut lost) = (0, 0, 0);
    for run in runs {
        let profile = &run.profile;
        let is_unnamed = |context: &Context| {
            context.function.is_some_and(|f| is_unnamed(profile.functions.get(f)))
        };
        let own = profile.contexts.iter().filter(|(_, context)| is_unnamed(context));
        unnamed += own.map(|(_, context)| u128::from(context.own.weight)).sum::<u128>();
        all += u128::from(profile.total().weight);
        lost += profile.facts.lost;
    }
    let share = unnamed as f64 / all.max(1) as f64;
    if share > MANY_UNNAMED {
        found.push(Warning::MissingSymbols { name: name(), share });
    }
    let share = lost as f64 / (lost + samples).max(1) as f64;
    if share > MANY_LOST {
        found.push(Warning::Lost { name: name(), share });
    }
    let whole = |run: &&Run| run.profile.facts.command.as_deref().is_some_and(is_of_all_programs);
    if let Some(run) = runs.iter().find(whole) {
        found.push(Warning::WholeSystem { name: run.name.clone() });
    }
    // Several runs of the same program would cause the same warnings.
    let mut said: Vec<String> = Vec::new();
    for run in runs {
        for remark in run.profile.remarks.iter().filter(|remark| matters(remark, &run.profile)) {
            let remark = remark.to_string();
            if !said.contains(&remark) {
                found.push(Warning::Reader { name: run.name.clone(), remark: remark.clone() });
                said.push(remark);
            }
        }
    }
}

/// Returns whether a command of perf recorded whatever ran. What comes behind its options is the command
/// of a program.
fn is_of_all_programs(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace().skip_while(|word| *word != "record").skip(1);
    let options = words.by_ref().take_while(|word| *word != "--");
    let mut is_value = false;
    for word in options {
        match word {
            "-a" | "--all-cpus" => return true,
            // Options with a value behind them.
            "-F" | "-e" | "-o" | "-c" | "-p" | "-t" | "-C" | "-G" | "-m" | "-k" | "-u" | "-D"
            | "-j" | "--call-graph" => is_value = true,
            word if word.starts_with('-') || is_value => is_value = false,
            // The recorded command has options of its own.
            _ => return false,
        }
    }
    false
}

/// Returns whether a reader's remark is worth a warning. That a file has no names is not, if next
/// to no samples fell on it.
fn matters(remark: &Remark, profile: &SampledProfile) -> bool {
    let Remark::NoSymbols { object, .. } = remark else { return true };
    let is_of_object = |context: &Context| {
        context.function.is_some_and(|f| profile.functions.get(f).object == *object)
    };
    let own = profile.contexts.iter().filter(|(_, context)| is_of_object(context));
    let samples: u64 = own.map(|(_, context)| context.own.samples).sum();
    samples as f64 > profile.total().samples as f64 * WORTH_NAMES
}

/// Returns whether a run used more cores than it had. `busy` is its time on processors.
pub(crate) fn above_cores(run: &Run, busy: Nanoseconds) -> Option<Warning> {
    let cores = run.cores?;
    let elapsed = run.elapsed.filter(|&elapsed| elapsed > Nanoseconds(0))?;
    let used = busy.calculated() / elapsed.calculated();
    (used > f64::from(cores) * ABOVE_CORES).then(|| Warning::MoreThanItsCores {
        name: run.name.clone(),
        used,
        cores,
    })
}

#[cfg(test)]
mod tests {
    use super::is_of_all_programs;

    #[test]
    fn recordings_of_the_whole_system_are_told_by_perfs_options() {
        for command in [
            "/usr/bin/perf record -a -g sleep 2",
            "perf record -F 999 --call-graph dwarf --all-cpus -- x",
        ] {
            assert!(is_of_all_programs(command), "{command}");
        }
        for command in
            ["perf record -g ls -a", "perf record -e cycles -- ls -a", "perf stat -a x", ""]
        {
            assert!(!is_of_all_programs(command), "{command}");
        }
    }
}
