//! `kilocore emulate -- CMD…`: the program itself, on a machine that is not here.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, output, say};
use kilocore_emulation::{EmulateError, Emulated, Emulator, Point, emulate_all};
use kilocore_emulation_orders::Orders;
use kilocore_machine::Description;
use kilocore_process::{Output, is_sized, shell_status};

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
    if cycles > 0.0 && cycles <= 1_000.0 {
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
    let done = |_: &Orders, point: &Point| {
        bar.inc(1);
        point.status.success() && !point.interrupted
    };
    let points = emulate_all(&arguments.command, &all, &emulator, Output::ToStderr, &done);
    bar.finish_and_clear();
    let points = points.map_err(|error| match error {
        EmulateError::NoReport { status } => {
            Failure::with_status_of_program(error.to_string(), shell_status(status))
        }
        EmulateError::Start { qemu, source } => launch::cannot_start(qemu.as_os_str(), source),
        other => other.into(),
    })?;
    let bad = points.iter().find(|point| point.interrupted || !point.status.success());
    if let Some(bad) = bad {
        return Ok(ended_badly(bad));
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

/// The status of a program that was asked to end and ended as if all were well, as shells give it for Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Says that a run ended in another way than it should, and with which status this ends.
fn ended_badly(point: &Point) -> ExitCode {
    let status = match shell_status(point.status) {
        0 => INTERRUPTED,
        status => status,
    };
    say(&format!("the program was interrupted or failed, with status {status}; nothing is shown"));
    ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))
}

/// The numbers of cores to run on.
fn counts(asked: Option<&CoreList>, machine: &Description) -> Result<Vec<u32>, Failure> {
    let has = machine.hardware_threads();
    let Some(list) = asked else {
        let most = has.min(USUAL_MOST_CORES);
        let per_node = has / machine.topology.nodes();
        return Ok(CoreList::for_machine(most, per_node).0);
    };
    match list.0.last() {
        Some(&wanted) if wanted > has => Err(Failure::new(format!(
            "{} has {has} hardware threads; cannot emulate {wanted} (choose 1 to {has})",
            machine.name
        ))),
        _ => Ok(list.0.clone()),
    }
}
