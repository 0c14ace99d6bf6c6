//! Simulates a workload with some of its parameters changed: what they were calibrated with.
//!
//! ```text
//! cargo run --release -p kilocore-lab --example calibrate -- aim7 stock 15,60,120 forks=4
//! ```

use std::error::Error;
use std::num::{ParseFloatError, ParseIntError};
use std::process::ExitCode;

use kilocore_lab::ldu::{RunLength, SchemeId, Setting, Workload, simulate};

// As in `kilocore`: simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;

const USAGE: &str = "usage: calibrate WORKLOAD SCHEMES CORES [PARAMETER=VALUE]…
`updates` is their percentage (100), `warm` what passes before counting begins, in µs (20000),
`seed` that of random numbers (1).";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("calibrate: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut next = || words.next().ok_or(USAGE);
    let workload: Workload = next()?.parse()?;
    let (schemes, cores) = (next()?, next()?);
    let schemes = schemes.split(',').map(str::parse).collect::<Result<Vec<SchemeId>, _>>()?;
    let cores =
        cores.split(',').map(|n| n.parse().map_err(|e: ParseIntError| format!("'{n}': {e}")));
    let cores = cores.collect::<Result<Vec<u32>, _>>()?;
    let mut setting = Setting::of(workload);
    let mut length = RunLength {
        forks_per_core: 8,
        forks: 600,
        warm_us: 20_000.0,
        counted_us: 30_000.0,
        warm_forks: 300,
        ..RunLength::default()
    };
    let mut updates = 100.0;
    for word in words {
        let (name, value) =
            word.split_once('=').ok_or(format!("'{word}' is no PARAMETER=VALUE"))?;
        let value = value.parse().map_err(|e: ParseFloatError| format!("'{word}': {e}"))?;
        match name {
            "updates" => updates = value,
            "warm" => length.warm_us = value,
            "seed" => length.seed = value as u64,
            _ => change(&mut setting, name, value)?,
        }
    }
    let machine = kilocore_machine::find("xeon-e7-8870v2-8s")?;
    println!(
        "{workload}: {} per second, and shares of user, system and idle time (simulated)",
        workload.unit()
    );
    for scheme in schemes {
        for &cores in &cores {
            let point = simulate(&setting, scheme, &machine, cores, updates, length)?;
            let [user, sys, idle] = [point.user, point.sys, point.idle].map(|share| 100.0 * share);
            println!(
                "{scheme:18}{cores:5}{:10.0}{user:7.1}{sys:7.1}{idle:7.1}",
                point.throughput_per_s
            );
        }
    }
    Ok(())
}

/// Changes a parameter, by the name of its field.
fn change(setting: &mut Setting, name: &str, value: f64) -> Result<(), String> {
    match name {
        "files" => setting.files = value as u32,
        "areas" => setting.areas_per_file = value as u32,
        "written" => setting.written_per_file = value as u32,
        "anonymous" => setting.anonymous = value as u32,
        "forks" => setting.forks = value,
        "execs" => setting.execs = value,
        "mmaps" => setting.mmaps = value,
        "user" => setting.user_us = value,
        "fork" => setting.fork_us = value,
        "table" => setting.table_us = value,
        "exec" => setting.exec_us = value,
        "system" => setting.system_us = value,
        "directories" => setting.directories = value as u32,
        "sections" => setting.directory_sections = value,
        "section" => setting.directory_us = value,
        "flush" => setting.flush_us = value,
        _ => return Err(format!("there is no parameter '{name}'")),
    }
    Ok(())
}
