//! `kilocore emulate -- CMD…`: the program itself, on a machine that is not here.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, output, say};
use kilocore_emulation::{EmulateError, Emulated, Emulator, Point, QemuError, emulate_all};
use kilocore_emulation_orders::Orders;
use kilocore_machine::Description;
use kilocore_process::{Output, is_sized, shell_status, status_of_bad_end};

use crate::sampling::shell_word;
use crate::{examples, launch, usual_machine};

/// Runs a program on a simulated machine, on each number of cores in turn.
#[derive(Debug, Args)]
#[command(after_help = examples::EMULATE)]
pub(crate) struct Arguments {
    /// The machine, by name or as a machine file; see `kilocore list machines` [default: the largest
    /// known one of the kind of this host's processor]
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Numbers of cores, as in 1,6,12-48:12 [default: what suits the machine, up to 64]
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Seed of all chance
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Cycles by which a thread may run ahead of the others where they cannot notice it. More is faster, and less
    /// exact
    #[arg(long, value_name = "CYCLES", default_value_t = Orders::DISORDER, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    disorder: u64,
    /// Cycles that an instruction takes which waits for nothing
    #[arg(long, value_name = "CYCLES", default_value_t = Orders::CYCLES_PER_INSTRUCTION, value_parser = cycles)]
    cycles_per_instruction: f64,
    /// The QEMU that executes the program [default: qemu-x86_64]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    #[command(flatten)]
    reports: Reports,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options. {cores} or
    /// {threads} in them becomes the number of cores. Its input is empty, and its output goes to standard error
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// More cores are emulated only if somebody asks for them: it takes as much longer.
const USUAL_MOST_CORES: u32 = 64;

fn cycles(text: &str) -> Result<f64, String> {
    let cycles: f64 =
        text.parse().map_err(|_| "give a number of cycles, such as 0.8".to_owned())?;
    if Orders::is_possible(cycles) {
        Ok(cycles)
    } else {
        Err("give a number above 0 and at most 1000".to_owned())
    }
}

pub(crate) fn emulate(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    launch::check(&arguments.command)?;
    let machine = usual_machine::or_usual(arguments.machine.as_deref(), "emulating")?;
    let counts = counts(arguments.cores.as_ref(), &machine)?;
    let library = launch::library("libkilocore_emulate_qemu.so")?;
    let emulator = Emulator::new(&library, arguments.qemu.as_deref())?;
    if !is_sized(&arguments.command) && counts.len() > 1 {
        say(
            "no {cores} in the command: if the program does not ask how many processors it has, it makes as many \
             threads on each number of cores",
        );
    }
    let orders = |cores| Orders {
        seed: arguments.seed,
        disorder: arguments.disorder,
        cycles_per_instruction: arguments.cycles_per_instruction,
        ..Orders::new(machine.clone(), cores)
    };
    let all: Vec<Orders> = counts.iter().map(|&cores| orders(cores)).collect();
    let bar = output::progress(all.len() as u64, "emulating");
    let done = |point: &Point| {
        bar.inc(1);
        !ended_badly(point)
    };
    let points = emulate_all(&arguments.command, &all, &emulator, Output::ToStderr, &done);
    bar.finish_and_clear();
    let points = points.map_err(|error| match error {
        EmulateError::NoReport { status } => {
            Failure::with_status_of_program(error.to_string(), shell_status(status))
        }
        EmulateError::Qemu(QemuError::Start { qemu, source }) => {
            launch::cannot_start(qemu.as_os_str(), source)
        }
        other => other.into(),
    })?;
    if let Some(bad) = points.iter().find(|point| ended_badly(point)) {
        let status = status_of_bad_end(bad.status);
        say(&format!(
            "the program was interrupted or failed, with status {status}; nothing is shown"
        ));
        return Ok(ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX)));
    }
    let words: Vec<String> = arguments.command.iter().map(|word| shell_word(word)).collect();
    let study = Emulated {
        generated: output::generated(),
        command: words.join(" "),
        orders: orders(counts[0]),
        points: counts.iter().copied().zip(points).collect(),
    };
    arguments.reports.deliver_study(&files, &study)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a run ended in another way than it should.
fn ended_badly(point: &Point) -> bool {
    point.interrupted || !point.status.success()
}

/// The numbers of cores to run on.
fn counts(asked: Option<&CoreList>, machine: &Description) -> Result<Vec<u32>, Failure> {
    if let Some(list) = asked {
        usual_machine::check_cores(machine, list, "emulate")?;
        return Ok(list.0.clone());
    }
    let has = machine.hardware_threads();
    let per_node = has / machine.topology.nodes();
    Ok(CoreList::for_machine(has.min(USUAL_MOST_CORES), per_node).0)
}
