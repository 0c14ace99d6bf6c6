//! `kilocore`: finds where a program stops scaling with cores, shows why, forecasts how it behaves
//! on other machines, and runs it under the lock that helps.
//!
//! This crate is the command line and no more: each verb is one file that turns arguments into
//! calls of the libraries and their results into text. Whatever goes wrong for a reason that the
//! user can mend ends with exit status 2 and one message.

mod bench;
mod catalogue;
mod crash;
mod doctor;
mod examples;
mod fit;
mod launch;
mod locate;
mod lock_name;
mod lost;
mod measure;
mod numa;
mod pages;
mod predict;
mod run;
mod sched;
mod shell;
mod subject;
mod target;
mod tracer;
mod when;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use kilocore_sim::SimHeap;

/// Simulations print the same bytes every time.
#[global_allocator]
static HEAP: SimHeap = SimHeap;

/// Finds where a program stops scaling with cores, forecasts it on other machines, and runs it
/// under the lock that helps.
#[derive(Debug, Parser)]
#[command(
    name = "kilocore",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = examples::ALL
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure a program, forecast it on a machine, and say which lock to take
    Doctor(doctor::Arguments),
    /// Profile the locks of an unmodified program
    Measure(measure::Arguments),
    /// Forecast a profiled program on a machine, for each lock and number of cores
    Predict(predict::Arguments),
    /// Forecast a program from throughputs that were measured on some core counts
    Fit(fit::Arguments),
    /// Find the functions that stop a program from scaling, from two sampled profiles
    Locate(Box<locate::Arguments>),
    /// Run an unmodified program with its mutexes or read-write locks replaced
    Run(run::Arguments),
    /// Steer an unmodified program, or one that runs, by a scheduling policy that sees contention
    Sched(sched::Arguments),
    /// For Kilocore's own use
    #[command(hide = true, name = sched::GUARDIAN)]
    SchedGuardian(sched::GuardianArguments),
    /// Measure which system interfaces of this kernel scale with cores
    Bench(bench::Arguments),
    /// For Kilocore's own use
    #[command(hide = true, name = bench::HELPER)]
    BenchHelper(bench::HelperArguments),
    /// Record the pages that a program is given and gives back, or run it with a page pool
    #[command(subcommand)]
    Pages(pages::Action),
    /// Say where an unmodified program's memory should lie on a machine with several memory nodes
    #[command(subcommand)]
    Numa(numa::Action),
    /// List the locks, or show one in full
    Locks(catalogue::LocksArguments),
    /// List the machines, show one in full, or describe this host
    Machines(catalogue::MachinesArguments),
    /// Print the completions of this command line for a shell
    Completions(shell::CompletionsArguments),
    /// Write the manual pages of this command line
    #[command(hide = true)]
    Manual(shell::ManualArguments),
}

fn main() -> ExitCode {
    kilocore_command_line::begin(env!("CARGO_BIN_NAME"), env!("CARGO_PKG_VERSION"));
    kilocore_process::survive_full_files();
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Doctor(arguments) => doctor::doctor(arguments),
        Command::Measure(arguments) => measure::measure(arguments),
        Command::Predict(arguments) => predict::predict(arguments),
        Command::Fit(arguments) => fit::fit(&arguments),
        Command::Locate(arguments) => locate::locate(&arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Sched(arguments) => sched::sched(arguments),
        Command::SchedGuardian(arguments) => Ok(sched::guardian(&arguments)),
        Command::Bench(arguments) => bench::bench(arguments),
        Command::BenchHelper(arguments) => Ok(bench::helper(&arguments)),
        Command::Pages(action) => pages::pages(action),
        Command::Numa(action) => numa::numa(action),
        Command::Locks(arguments) => catalogue::locks(arguments),
        Command::Machines(arguments) => catalogue::machines(arguments),
        Command::Completions(arguments) => shell::completions(&arguments, Arguments::command()),
        Command::Manual(arguments) => shell::manual(&arguments, Arguments::command()),
    };
    match result {
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
}
