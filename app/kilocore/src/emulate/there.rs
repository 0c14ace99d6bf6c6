//! What the doctor asks the emulation: the program as it is and under the recommended locks, on the machine of the
//! forecast.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use kilocore_command_line::{CoreList, Failure, say};
use kilocore_emulation::{Emulator, KeptRuns, Point, Runs, Variant};
use kilocore_emulation_orders::Orders;
use kilocore_forecast::{EmulatedPoint, EmulatedThere, Forecast, with_emulation};
use kilocore_machine::Description;
use kilocore_points::Assignment;
use kilocore_process::Output;

use super::{USUAL_MOST_CORES, USUAL_SEEDS, Variables, asked, run, timed};
use crate::launch;
use crate::run::Replaced;

/// Whether and by what the doctor emulates.
#[derive(Debug, Args)]
pub(crate) struct Emulation {
    /// Execute the program on the simulated machine as well, as it is and under the recommended lock, and hold the
    /// forecast against that. Takes minutes; see `kilocore emulate`
    #[arg(long, conflicts_with_all = ["pid", "once"])]
    emulate: bool,
    /// The QEMU that executes the program [default: qemu-x86_64]
    #[arg(long, value_name = "PATH", requires = "emulate")]
    qemu: Option<PathBuf>,
}

impl Emulation {
    /// What emulates, if somebody asked for that, and whether it keeps what comes out.
    pub(crate) fn emulator(&self, keeps: bool) -> Result<Option<Emulator>, Failure> {
        let kept = || keeps.then(KeptRuns::of_user).flatten();
        self.emulate.then(|| emulator(self.qemu.as_deref(), kept())).transpose()
    }
}

/// QEMU with the plugin, and with what was emulated before if it is to keep that.
pub(super) fn emulator(qemu: Option<&Path>, kept: Option<KeptRuns>) -> Result<Emulator, Failure> {
    let emulator = Emulator::new(&launch::library("libkilocore_emulate_qemu.so")?, qemu)?;
    Ok(match kept {
        Some(runs) => emulator.keeping(runs),
        None => emulator,
    })
}

/// The forecast with what the program does on the simulated machine. If it cannot be executed there, the forecast
/// stands alone, and that is said.
pub(crate) fn emulated_there(
    forecast: Forecast,
    command: &[OsString],
    machine: &Description,
    emulator: &Emulator,
) -> Forecast {
    match emulated(&forecast, command, machine, emulator) {
        Ok(emulated) => with_emulation(forecast, emulated),
        Err(why) => {
            say(&format!("not emulated: {}", why.message()));
            forecast
        }
    }
}

fn emulated(
    forecast: &Forecast,
    command: &[OsString],
    machine: &Description,
    emulator: &Emulator,
) -> Result<EmulatedThere, Failure> {
    let usual = Orders::new(machine.clone(), 1);
    let cycles = timed(command, usual.clone(), emulator, Output::Discarded);
    let is_timed = cycles.is_ok();
    let cycles_per_instruction = cycles.unwrap_or_else(|why| {
        say(&format!(
            "{}; an instruction is taken to need {} cycle",
            why.message(),
            usual.cycles_per_instruction
        ));
        usual.cycles_per_instruction
    });
    let counts = counts(forecast, machine);
    let advice = &forecast.recommendation;
    let own = (None, None, Variables::new());
    let mut variants = vec![own];
    if advice.command.is_some() && advice.shown().is_some() {
        let (lock, rwlock) = (advice.lock, advice.rwlock);
        variants.push((lock, rwlock, Replaced { lock, rwlock }.environment(command)?));
    }
    let orders = |cores| Orders { cores, cycles_per_instruction, ..usual.clone() };
    let named = variants.iter().map(|(.., variables)| (Variant::OWN, variables));
    let all = asked(named, &counts, &orders);
    let (most, alone) = (usize::from(USUAL_SEEDS), Assignment::all());
    let runs = run(command, &all, most, emulator, Output::Discarded, &alone)?;
    let all = || runs.iter().flat_map(Runs::all);
    let known = all().filter(|(_, point)| point.known_since.is_some()).count();
    if known > 0 {
        say(&format!(
            "{known} of {} emulated runs are known from before; --no-cache emulates them anew",
            all().count()
        ));
    }
    let ns = |point: &Point| point.report.end_ns;
    let first = runs.first().map_or(f64::NAN, |fewest| ns(fewest.shown()));
    let of_variants = variants
        .iter()
        .flat_map(|(lock, rwlock, _)| counts.iter().map(move |cores| (*lock, *rwlock, *cores)));
    let points = of_variants.zip(&runs).map(|((lock, rwlock, cores), runs)| EmulatedPoint {
        lock,
        rwlock,
        cores,
        fewest: counts[0],
        speedup: first / ns(runs.shown()),
        by_chance: runs.differ().then(|| {
            let (quickest, slowest) = runs.range(ns).into_inner();
            [first / slowest, first / quickest]
        }),
        forecast: None,
    });
    Ok(EmulatedThere {
        cycles_per_instruction,
        is_timed,
        points: points.collect(),
        ..EmulatedThere::default()
    })
}

/// A few numbers of cores of which there are forecasts, if there are any: the fewest, the most, and one between.
fn counts(forecast: &Forecast, machine: &Description) -> Vec<u32> {
    let curve = forecast.curves.iter().find(|curve| curve.lock == forecast.today);
    let of_curve = curve.map(|curve| curve.points.iter().map(|point| point.point.cores).collect());
    let per_node = machine.topology.cores_per_node();
    let usual =
        || CoreList::for_machine(machine.hardware_threads().min(USUAL_MOST_CORES), per_node).0;
    let mut counts: Vec<u32> = of_curve.unwrap_or_else(usual);
    counts.retain(|&cores| cores <= USUAL_MOST_CORES);
    let mut few = vec![counts[0], counts[counts.len() / 2], counts[counts.len() - 1]];
    few.dedup();
    few
}
