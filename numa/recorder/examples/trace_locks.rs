//! Traces the locks of a program: `trace_locks LIBRARY COMMAND…`.

use std::path::PathBuf;
use std::process::ExitCode;

use kilocore_reference_recorder::{Options, trace_locks};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(library) = words.next() else {
        eprintln!("trace_locks LIBRARY COMMAND...");
        return ExitCode::from(2);
    };
    let command: Vec<_> = words.collect();
    let traced = match trace_locks(&command, &Options::new(PathBuf::from(library))) {
        Ok(traced) => traced,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let Ok(Some(made)) = traced.made else {
        eprintln!("the program did not tell of its locks");
        return ExitCode::FAILURE;
    };
    println!(
        "     taken  handovers  threads  instructions     p99  lines to read/write  in turn  where"
    );
    for lock in &made.locks {
        let handovers = lock.handovers.max(1) as f64;
        let place = |code| match made.modules.find(code) {
            Some((file, offset)) => format!("{file}+{offset:#x}"),
            None => format!("{code:#x}"),
        };
        println!(
            "{:10} {:10} {:8} {:13.1} {:7} {:9.2} {:10.2} {:7.2}  {:#x} by {} from {}",
            lock.acquisitions,
            lock.handovers,
            lock.threads,
            lock.mean_instructions(),
            lock.quantile(0.99),
            lock.lines_moved_to_read as f64 / handovers,
            lock.lines_moved_to_write as f64 / handovers,
            lock.moves_in_turn as f64 / handovers,
            lock.address,
            place(lock.code),
            place(lock.callers[0]),
        );
    }
    println!("{} updates of words that were not followed", made.updates_not_followed);
    ExitCode::SUCCESS
}
