//! The comparison of two profiles.

use std::cmp::Reverse;

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::Tally;

use crate::lock_functions::{LockRole, lock_role};
use crate::noise::{Noise, RunNoise, RunTimes, Uncertainty};
use crate::run::{Conversion, common_measure, nominal_clock};
use crate::totals::SideTotals;
use crate::tree::{Builder, FunctionIndex, Identification, Node, NodeIndex, Side, Tree};
use crate::{
    Amounts, CompareError, Loss, Measure, Owner, Run, Times, Warning, Work, Works, checks,
};

/// How two profiles are compared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// The relative standard deviation from run to run, if the user knows it: 0.02 for 2 percent.
    pub run_noise: Option<f64>,
}

/// A function on both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FunctionRow {
    /// The function, by its index in the tree.
    pub function: FunctionIndex,
    /// The samples in the function itself.
    pub exclusive: Amounts,
    /// The samples in the function or in anything that it called. A sample under a recursive
    /// function counts once.
    pub inclusive: Amounts,
    /// How sure the exclusive loss is.
    pub exclusive_uncertainty: Uncertainty,
    /// How sure the inclusive loss is.
    pub inclusive_uncertainty: Uncertainty,
}

/// A function of the program, including what libraries and the kernel did for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodeRow {
    /// The function, or `None` for stacks without a function of the program.
    pub function: Option<FunctionIndex>,
    /// The samples in the function, or in libraries and the kernel that it called, up to the next
    /// function of the program.
    pub charged: Amounts,
    /// How sure the loss is.
    pub uncertainty: Uncertainty,
}

/// How sure the losses of a calling context are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextUncertainty {
    /// How sure the exclusive loss is.
    pub exclusive: Uncertainty,
    /// How sure the inclusive loss is.
    pub inclusive: Uncertainty,
}

/// How much of a loss is in the code of locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockLoss {
    /// The loss in locks of the program: in user space, or while waiting for one in the kernel.
    pub user: Loss,
    /// The loss in locks of the kernel.
    pub kernel: Loss,
}

/// Two profiles and what their comparison shows.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The unit of the figures.
    pub measure: Measure,
    /// The runs on few cores.
    pub base: SideTotals,
    /// The runs on many cores.
    pub scaled: SideTotals,
    /// The work of both sides.
    pub works: Works,
    /// The time on processors, or what else the measure counts.
    pub busy: Times,
    /// The time during which the program did not use its cores, if it is known.
    pub idle: Option<Times>,
    /// All functions, the one with the largest exclusive loss first.
    pub functions: Vec<FunctionRow>,
    /// The functions of the program, the one with the largest charged loss first.
    pub code: Vec<CodeRow>,
    /// How sure the losses of each context are, by node.
    pub contexts: Vec<ContextUncertainty>,
    /// All calling contexts of both profiles.
    pub tree: Tree,
    /// How much of the loss is in locks.
    pub locks: LockLoss,
    /// How runs differ from each other.
    pub run_noise: RunNoise,
    /// Warnings about the comparison.
    pub warnings: Vec<Warning>,
}

impl Comparison {
    /// Returns how much longer a unit of work takes on the scaled side, on processors and waiting.
    #[must_use]
    pub fn total_loss(&self) -> Loss {
        self.busy_loss() + self.idle.map_or(Loss::default(), |idle| idle.loss(self.works))
    }

    /// Returns how much longer it takes in what was measured: on processors, unless threads off
    /// them were. It is the sum of all exclusive losses.
    #[must_use]
    pub fn busy_loss(&self) -> Loss {
        self.busy.loss(self.works)
    }

    /// Returns the ratio of the scaled side's rate of work to that of the base side.
    #[must_use]
    pub fn speedup(&self) -> Option<f64> {
        Some(self.scaled.throughput()? / self.base.throughput()?)
    }

    /// Returns how many times as much of its cores' time a unit of work takes on the scaled side, by
    /// the wall clock: 1 if the program scales as its cores do. Samples have no part in it.
    #[must_use]
    pub fn core_time_ratio(&self) -> Option<f64> {
        Some(self.core_ratio()? / self.speedup()?)
    }

    /// Returns the share of the scaled side's core time that its samples cannot explain, 0 to 1. It is
    /// known only for samples of processors that do not say how long the cores were unused.
    ///
    /// A unit of work takes so many times as much core time, and so many times as many events on
    /// processors. As far as the former grew more, cores did not run the program, or ran it more
    /// slowly than the events tell.
    #[must_use]
    pub fn unexplained(&self) -> Option<f64> {
        if self.idle.is_some() || self.measure.is_off_processors() {
            return None;
        }
        let busy = self.busy.scaled_per_unit(self.works) / self.busy.base_per_unit(self.works);
        Some((1.0 - busy / self.core_time_ratio()?).clamp(0.0, 1.0))
    }

    /// Returns how many times as many cores the scaled side had.
    #[must_use]
    pub fn core_ratio(&self) -> Option<f64> {
        Some(f64::from(self.scaled.cores?) / f64::from(self.base.cores?))
    }
}

/// Compares the runs of a program on few cores with those on many.
///
/// # Errors
/// [`CompareError`] if there is nothing to compare or the profiles count different things.
/// What only makes a comparison less reliable is in [`Comparison::warnings`].
pub fn compare(
    base: &[Run],
    scaled: &[Run],
    options: &Options,
) -> Result<Comparison, CompareError> {
    let all: Vec<&Run> = base.iter().chain(scaled).collect();
    if base.is_empty() || scaled.is_empty() {
        return Err(CompareError::NoRuns);
    }
    if let Some(empty) = all.iter().find(|run| run.profile.total().weight == 0) {
        return Err(CompareError::NoSamples { name: empty.name.clone() });
    }
    check_works(&all)?;
    let clock = nominal_clock(&all);
    let (measure, conversions) = common_measure(&all, clock)?;
    let (base_conversions, scaled_conversions) = conversions.split_at(base.len());
    let mut warnings = checks::warnings(base, scaled, all[0].work.is_none());

    let by = Identification::of(all.iter().map(|run| &run.profile));
    let mut builder = Builder::new(by);
    let base_times = add_side(&mut builder, base, Side::Base, base_conversions);
    let scaled_times = add_side(&mut builder, scaled, Side::Scaled, scaled_conversions);
    let tree = builder.finish();
    let busy = tree.node(NodeIndex::ROOT).inclusive;
    let base_totals = side_totals(base, busy.base)?;
    let scaled_totals = side_totals(scaled, busy.scaled)?;
    let works = Works { base: base_totals.work, scaled: scaled_totals.work };

    let idle = idle(&measure, &base_totals, &scaled_totals);
    warnings.extend(clock.map(|ghz| Warning::NominalClock { ghz }));
    if measure == Measure::Asleep {
        warnings.push(Warning::AsleepOnly);
    } else if measure == Measure::Waiting {
        warnings.push(Warning::WaitingOnly);
    } else if idle.is_none() {
        warnings.push(Warning::OnProcessorOnly);
    }
    if measure == Measure::Nanoseconds {
        let busy_of = |(run, conversion): (&&Run, &Conversion)| {
            let busy = Nanoseconds(conversion.apply(run.profile.total()).weight);
            checks::above_cores(run, busy)
        };
        warnings.extend(all.iter().zip(&conversions).filter_map(busy_of));
    }
    warnings.extend(checks::of_tree(&tree, &base_totals, &scaled_totals));

    let run_noise = run_noise(options, [&base_times, &scaled_times]);
    let a_sample = |tally: Tally| tally.weight as f64 / tally.samples.max(1) as f64;
    let noise = Noise {
        works,
        between_runs: run_noise,
        runs: [base.len(), scaled.len()],
        a_sample: [a_sample(busy.base), a_sample(busy.scaled)],
    };
    Ok(Comparison {
        functions: function_rows(&tree, &noise),
        code: code_rows(&tree, &noise),
        contexts: context_uncertainties(&tree, &noise),
        locks: lock_loss(&tree, works),
        measure,
        base: base_totals,
        scaled: scaled_totals,
        works,
        busy: busy.times(),
        idle,
        tree,
        run_noise,
        warnings,
    })
}

/// Returns the work of a run, which is taken for one unit if nobody counted it.
fn work_of(run: &Run) -> Work {
    run.work.unwrap_or_else(Work::one)
}

/// Refuses runs of which only some have a known amount of work.
fn check_works(all: &[&Run]) -> Result<(), CompareError> {
    let known = all.iter().find(|run| run.work.is_some());
    let unknown = all.iter().find(|run| run.work.is_none());
    if let (Some(known), Some(unknown)) = (known, unknown) {
        return Err(CompareError::WorkOfSome {
            known: known.name.clone(),
            unknown: unknown.name.clone(),
        });
    }
    Ok(())
}

fn add_side(
    builder: &mut Builder,
    runs: &[Run],
    side: Side,
    conversions: &[Conversion],
) -> Vec<RunTimes> {
    let times = runs.iter().zip(conversions).map(|(run, &conversion)| {
        let by_function = builder.add(&run.profile, side, conversion);
        RunTimes::new(&by_function, work_of(run).as_f64())
    });
    times.collect()
}

fn side_totals(runs: &[Run], busy: Tally) -> Result<SideTotals, CompareError> {
    let first = &runs[0];
    let too_large = |run: &Run| CompareError::TooLarge { name: run.name.clone() };
    let mut work = work_of(first);
    let mut elapsed = first.elapsed;
    for run in &runs[1..] {
        work = work.checked_add(work_of(run)).ok_or_else(|| too_large(run))?;
        elapsed = elapsed.zip(run.elapsed).and_then(|(a, b)| a.0.checked_add(b.0)).map(Nanoseconds);
        if let (Some(one_cores), Some(other_cores)) = (first.cores, run.cores)
            && one_cores != other_cores
        {
            return Err(CompareError::Cores {
                one: first.name.clone(),
                one_cores,
                other: run.name.clone(),
                other_cores,
            });
        }
    }
    // Larger values would overflow products of time and work.
    if busy.weight > 1 << 62 {
        return Err(too_large(first));
    }
    let cores = runs.iter().find_map(|run| run.cores);
    let names = runs.iter().map(|run| run.name.clone()).collect();
    Ok(SideTotals { names, cores, work, busy, elapsed })
}

/// Returns the time of the cores that the program had and did not use.
fn idle(measure: &Measure, base: &SideTotals, scaled: &SideTotals) -> Option<Times> {
    if *measure != Measure::Nanoseconds {
        return None;
    }
    let idle_of = |side: &SideTotals| {
        let capacity = u128::from(side.cores?) * u128::from(side.elapsed?.0);
        Some(i128::try_from(capacity).ok()? - i128::from(side.busy.weight))
    };
    // The product with the work is exact only if the capacity is known to be small.
    let fits = |time: &i128| time.unsigned_abs() <= 1 << 62;
    Some(Times { base: idle_of(base).filter(fits)?, scaled: idle_of(scaled).filter(fits)? })
}

fn run_noise(options: &Options, sides: [&[RunTimes]; 2]) -> RunNoise {
    options.run_noise.map_or_else(|| RunNoise::seen(sides), RunNoise::given)
}

fn function_rows(tree: &Tree, noise: &Noise) -> Vec<FunctionRow> {
    let count = tree.functions().len();
    let (mut exclusive, mut inclusive) =
        (vec![Amounts::default(); count], vec![Amounts::default(); count]);
    for (_, function, node) in tree.contexts() {
        exclusive[function.index()].add(node.exclusive);
    }
    // The walk goes down the tree and up again. A function that is also further out on the stack
    // has the time already.
    let mut on_stack = vec![0_u32; count];
    let mut steps: Vec<(NodeIndex, bool)> = vec![(NodeIndex::ROOT, false)];
    while let Some((index, leaving)) = steps.pop() {
        let node = tree.node(index);
        if let Some(function) = node.function {
            let depth = &mut on_stack[function.index()];
            if leaving {
                *depth -= 1;
                continue;
            }
            if *depth == 0 {
                inclusive[function.index()].add(node.inclusive);
            }
            *depth += 1;
            steps.push((index, true));
        }
        steps.extend(node.callees.iter().map(|&callee| (callee, false)));
    }
    let exclusive_uncertainty = noise.of_all(&exclusive);
    let inclusive_uncertainty = noise.of_all(&inclusive);
    let mut rows: Vec<FunctionRow> = (0..count)
        .map(|index| FunctionRow {
            function: FunctionIndex(index as u32),
            exclusive: exclusive[index],
            inclusive: inclusive[index],
            exclusive_uncertainty: exclusive_uncertainty[index],
            inclusive_uncertainty: inclusive_uncertainty[index],
        })
        .collect();
    rows.sort_by_cached_key(|row| {
        let loss = row.exclusive.times().loss(noise.works);
        (Reverse(loss), tree.function(row.function).clone())
    });
    rows
}

fn context_uncertainties(tree: &Tree, noise: &Noise) -> Vec<ContextUncertainty> {
    let of = |amounts: fn(&Node) -> Amounts| {
        noise.of_all(&tree.nodes().iter().map(amounts).collect::<Vec<_>>())
    };
    of(|node| node.exclusive)
        .into_iter()
        .zip(of(|node| node.inclusive))
        .map(|(exclusive, inclusive)| ContextUncertainty { exclusive, inclusive })
        .collect()
}

fn code_rows(tree: &Tree, noise: &Noise) -> Vec<CodeRow> {
    let mut charged_to: Vec<Option<FunctionIndex>> = vec![None; tree.nodes().len()];
    // The last entry is for stacks without a function of the program.
    let nobody = tree.functions().len();
    let mut charged = vec![Amounts::default(); nobody + 1];
    for (index, function, node) in tree.contexts() {
        let to = match Owner::of(tree.function(function)) {
            Owner::Program => Some(function),
            _ => charged_to[node.caller.index()],
        };
        charged_to[index.index()] = to;
        charged[to.map_or(nobody, FunctionIndex::index)].add(node.exclusive);
    }
    let seen: Vec<usize> =
        (0..=nobody).filter(|&index| charged[index] != Amounts::default()).collect();
    let amounts: Vec<Amounts> = seen.iter().map(|&index| charged[index]).collect();
    let uncertainties = noise.of_all(&amounts);
    let row = |(index, uncertainty): (usize, Uncertainty)| CodeRow {
        function: (index < nobody).then_some(FunctionIndex(index as u32)),
        charged: charged[index],
        uncertainty,
    };
    let mut rows: Vec<CodeRow> = seen.into_iter().zip(uncertainties).map(row).collect();
    rows.sort_by_cached_key(|row| {
        let name = row.function.map(|function| tree.function(function).clone());
        (Reverse(row.charged.times().loss(noise.works)), name)
    });
    rows
}

fn lock_loss(tree: &Tree, works: Works) -> LockLoss {
    let roles: Vec<Option<LockRole>> = tree.functions().iter().map(lock_role).collect();
    let mut role_of: Vec<Option<LockRole>> = vec![None; tree.nodes().len()];
    let mut loss = LockLoss::default();
    for (index, function, node) in tree.contexts() {
        let inherited = role_of[node.caller.index()];
        // A thread that waits in the kernel for a lock of the program may take a lock of the kernel
        // for it.
        let role = inherited.or(roles[function.index()]);
        role_of[index.index()] = role;
        let own = node.exclusive.times().loss(works);
        match role {
            Some(LockRole::User | LockRole::Futex) => loss.user = loss.user + own,
            Some(LockRole::Kernel) => loss.kernel = loss.kernel + own,
            None => {}
        }
    }
    loss
}
