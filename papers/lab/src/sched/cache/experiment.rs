//! All policies on all mixes.

use kilocore_points::PointSource;
use kilocore_sim::occupancy::{Hardware, Program};

use super::contender::Contender;
use super::job::{BestDivision, OneOrder};
use super::mix::Mix;
use super::optimum::{Division, divides};
use super::point::{Point, TaskPoint, jain};
use super::run::{Ran, RunError};
use super::setting::Setting;

/// How many steps of progress [`points`] reports: one for each simulation.
#[must_use]
pub fn results(setting: &Setting, mixes: &[Mix], contenders: &[Contender]) -> usize {
    mixes.len() * with_fair(contenders).len() * setting.orders as usize
}

/// Fair sharing is always run, as all are compared with it.
fn with_fair(contenders: &[Contender]) -> Vec<Contender> {
    let others = contenders.iter().copied().filter(|&contender| contender != Contender::FAIR);
    std::iter::once(Contender::FAIR).chain(others).collect()
}

/// Runs these contenders on these mixes, from each order of the tasks. Points come by mixes, then by
/// contenders; `progress` is told after each simulation.
///
/// # Errors
/// If the machine does not have as many cores as the setting says.
pub fn points(
    source: &PointSource,
    setting: &Setting,
    mixes: &[Mix],
    contenders: &[Contender],
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, RunError> {
    let available = setting.machine.hardware_threads();
    let hardware = Hardware::new(&setting.machine, setting.cores.min(available));
    let run_all = with_fair(contenders);
    check(setting, &hardware, mixes, contenders)?;
    let divided: Vec<BestDivision<'_>> = match run_all.contains(&Contender::Optimum) {
        true => mixes.iter().map(|mix| BestDivision { mix }).collect(),
        false => Vec::new(),
    };
    let plans = source.points(&hardware, &divided, &|| {})?;
    let plans: Vec<Option<&Division>> = (0..mixes.len()).map(|mix| plans.get(mix)).collect();
    let orders = setting.orders as usize;
    let each = run_all.len() * orders;
    let job = |index: usize| {
        let (mix, contender) = (index / each, run_all[index % each / orders]);
        let plan = plans[mix].filter(|_| contender == Contender::Optimum);
        let seed = setting.seed + (index % orders) as u64;
        OneOrder { mix: &mixes[mix], contender, plan, seed }
    };
    let jobs: Vec<OneOrder<'_>> = (0..mixes.len() * each).map(job).collect();
    // Each order has a seed of its own, and does not depend on how many there are.
    let shared = Setting { seed: 0, orders: 1, ..setting.clone() };
    let ran = source.points(&shared, &jobs, progress)?;
    let mut points = Vec::new();
    for ((mix, plan), ran) in mixes.iter().zip(&plans).zip(ran.chunks(each)) {
        let alone: Vec<f64> = alone(&hardware, &mix.programs);
        let done: Vec<Done> =
            ran.chunks(orders).map(|ran| Done::new(setting, &alone, ran)).collect();
        for (&contender, own) in run_all.iter().zip(&done) {
            if contenders.contains(&contender) {
                let plan = plan.filter(|_| contender == Contender::Optimum);
                let point = own.point(setting, mix, contender, &done[0]);
                points.push(Point { plan: plan.map(|plan| plan.names(mix)), ..point });
            }
        }
    }
    Ok(points)
}

/// Refuses an optimum that there is not.
fn check(
    setting: &Setting,
    hardware: &Hardware,
    mixes: &[Mix],
    contenders: &[Contender],
) -> Result<(), RunError> {
    let uneven = mixes.iter().find(|mix| !divides(hardware, mix.programs.len()));
    match uneven {
        Some(mix) if contenders.contains(&Contender::Optimum) => Err(RunError::NoOptimum {
            machine: setting.machine.name.clone(),
            tasks: mix.programs.len(),
            cores: setting.cores,
        }),
        _ => Ok(()),
    }
}

/// Instructions per cycle of each program alone on the machine.
fn alone(hardware: &Hardware, programs: &[Program]) -> Vec<f64> {
    let mut known: Vec<(&'static str, f64)> = Vec::new();
    programs
        .iter()
        .map(|program| match known.iter().find(|(name, _)| *name == program.name) {
            Some(&(_, speed)) => speed,
            None => {
                let speed = program.alone(hardware);
                known.push((program.name, speed));
                speed
            }
        })
        .collect()
}

/// Means over orders of tasks.
#[derive(Debug)]
struct Done {
    /// Each task's speed relative to that alone on a core of its own.
    relative: Vec<f64>,
    /// Each task's share of the time of one core.
    share: Vec<f64>,
    /// Each task's instructions per second.
    speed: Vec<f64>,
    joules: f64,
    seconds: f64,
}

impl Done {
    fn new(setting: &Setting, alone: &[f64], ran: &[Ran]) -> Self {
        let orders = ran.len() as f64;
        let mean = |of: &dyn Fn(&Ran) -> f64| ran.iter().map(of).sum::<f64>() / orders;
        let ghz = setting.machine.clock_ghz.value;
        let cycles = setting.duration.0 as f64 * ghz;
        let each = |of: &dyn Fn(&Ran, usize) -> f64| -> Vec<f64> {
            (0..alone.len()).map(|task| mean(&|ran| of(ran, task))).collect()
        };
        Self {
            relative: each(&|ran, task| ran.instructions[task] / cycles / alone[task]),
            share: each(&|ran, task| ran.on_core[task].0 as f64 / cycles),
            speed: each(&|ran, task| ran.instructions[task] / cycles * ghz * 1e9),
            joules: mean(&|ran| ran.joules),
            seconds: mean(&|ran| ran.end.0 as f64 / ghz / 1e9),
        }
    }

    fn throughput(&self) -> f64 {
        self.relative.iter().sum()
    }

    fn point(&self, setting: &Setting, mix: &Mix, policy: Contender, fair: &Self) -> Point {
        let tasks = mix.programs.len();
        let even = (f64::from(setting.cores) / tasks as f64).min(1.0);
        let slowdowns: Vec<f64> = self.relative.iter().map(|speed| even / speed).collect();
        let beside_fair: Vec<f64> =
            fair.relative.iter().zip(&self.relative).map(|(fair, own)| fair / own).collect();
        let task = |task: usize| TaskPoint {
            program: mix.programs[task].name,
            progress: self.relative[task] / even,
            share: self.share[task] / even,
            seconds_per_run: mix.programs[task].instructions() / self.speed[task],
            beside_fair: beside_fair[task],
        };
        Point {
            policy,
            mix: mix.name,
            cores: setting.cores,
            throughput: self.throughput(),
            beside_fair: self.throughput() / fair.throughput(),
            fairness: jain(&slowdowns),
            worst_beside_fair: beside_fair.iter().copied().fold(0.0, f64::max),
            joules: self.joules,
            joules_per_work: self.joules / (self.throughput() * self.seconds),
            plan: None,
            tasks: (0..tasks).map(task).collect(),
        }
    }
}
