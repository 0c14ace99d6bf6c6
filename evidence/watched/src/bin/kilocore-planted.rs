//! Runs a planted program by hand: `kilocore-planted c-mutex 4 5 50 10`. Without a name it lists them.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use kilocore_watched::planted::Program;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(name) = words.next() else {
        println!("kilocore-planted PROGRAM THREADS HOLD_US THINK_US SECONDS [--idle-start]");
        for program in Program::all() {
            println!("  {:18} {:7} {}", program.name(), program.language(), {
                program.packages().join(" ")
            });
        }
        return ExitCode::SUCCESS;
    };
    let Some(program) = Program::named(&name) else {
        eprintln!("kilocore-planted: no program is called {name}; without a name all are listed");
        return ExitCode::from(2);
    };
    let built = match program.build() {
        Ok(built) => built,
        Err(error) => {
            eprintln!("kilocore-planted: {error}");
            return ExitCode::FAILURE;
        }
    };
    let command = built.words();
    // The program takes this process's place, so that signals reach it.
    let error = Command::new(&command[0]).args(&command[1..]).args(words).exec();
    eprintln!("kilocore-planted: {name}: {error}");
    ExitCode::FAILURE
}
