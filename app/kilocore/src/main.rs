//! `kilocore`: finds where a program stops scaling with cores, shows why, forecasts how it behaves
//! on other machines, and runs it under the lock that helps.
//!
//! This crate is the command line and no more: each verb is one file that turns arguments into
//! calls of the libraries and their results into text. Whatever goes wrong for a reason that the
//! user can mend ends with exit status 2 and one message.

mod bench;
mod bytes;
mod cache;
mod compare;
mod doctor;
mod emulate;
mod examples;
mod file_kind;
mod forecast;
mod launch;
mod list;
mod locate;
mod lock_name;
#[cfg(test)]
mod options;
mod page_pool;
mod plan_file;
mod record;
mod run;
mod sampling;
mod shell;
mod show;
mod steer;
mod sweep;
mod time;
mod usual_machine;
mod work;

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
    max_term_width = 80,
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
    /// Time a program here, record its locks, forecast it on a machine, and say which lock to take
    Doctor(Box<doctor::Arguments>),
    /// Record the locks, samples, pages or references of an unmodified program, or this machine
    #[command(subcommand)]
    Record(record::Recorder),
    /// Say what is in a file, whatever it is
    Show(show::Arguments),
    /// Forecast a program on a machine, from what was recorded or measured of it
    Forecast(Box<forecast::Arguments>),
    /// Run a program itself on a simulated machine, on each number of cores
    Emulate(Box<emulate::Arguments>),
    /// Say what became slower between two recordings, and where
    Compare(Box<compare::Arguments>),
    /// Find the functions that stop a program from scaling: sample it on few cores and on many
    Locate(Box<locate::Arguments>),
    /// Run an unmodified program with its locks replaced, or with a page pool
    Run(run::Arguments),
    /// Steer an unmodified program, or one that runs, by a scheduling policy that sees contention
    Steer(steer::Arguments),
    /// For Kilocore's own use
    #[command(hide = true, name = steer::GUARDIAN)]
    SteerGuardian(steer::GuardianArguments),
    /// Measure which system interfaces of this kernel scale with cores
    Bench(Box<bench::Arguments>),
    /// For Kilocore's own use
    #[command(hide = true, name = bench::HELPER)]
    BenchHelper(bench::HelperArguments),
    /// Run many commands as a plan says, each point of their curves once, on all cores
    Sweep(sweep::Arguments),
    /// Say what commands have kept of what they computed, or remove it
    #[command(subcommand)]
    Cache(cache::Cache),
    /// List the locks, machines, benchmarks or policies, or show one in full
    #[command(subcommand)]
    List(list::Registry),
    /// Print the completions of this command line for a shell
    Completions(shell::CompletionsArguments),
    /// Write the manual pages of this command line
    #[command(hide = true)]
    Manual(shell::ManualArguments),
}

fn main() -> ExitCode {
    kilocore_command_line::begin(env!("CARGO_BIN_NAME"), env!("CARGO_PKG_VERSION"));
    kilocore_process::survive_full_files();
    let arguments: Arguments = kilocore_command_line::parse();
    let result = match arguments.command {
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Record(recorder) => record::record(&recorder),
        Command::Show(arguments) => show::show(&arguments),
        Command::Forecast(arguments) => forecast::forecast(&arguments),
        Command::Emulate(arguments) => emulate::emulate(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Locate(arguments) => locate::locate(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Steer(arguments) => steer::steer(arguments),
        Command::SteerGuardian(arguments) => Ok(steer::guardian(&arguments)),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::BenchHelper(arguments) => Ok(bench::helper(&arguments)),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Cache(what) => cache::cache(&what),
        Command::List(registry) => list::list(&registry),
        Command::Completions(arguments) => shell::completions(&arguments, Arguments::command()),
        Command::Manual(arguments) => shell::manual(&arguments, Arguments::command()),
    };
    kilocore_command_line::end(result)
}
