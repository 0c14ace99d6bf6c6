//! Simulates the page cache's lists with some parameters changed: what they were calibrated with.
//!
//! ```text
//! cargo run --release -p kilocore-lab --example calibrate-lru -- knl-7210 seq-write stock 1 32,64 under_lock=160
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::str::FromStr;

use kilocore_lab::lru::{Folios, Job, Pattern, RunLength, Setting, Variant, jobs, sweep};
use kilocore_platform::Cycles;
use kilocore_points::PointSource;

// As in `kilocore`: simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;

const USAGE: &str =
    "usage: calibrate-lru MACHINE PATTERN VARIANTS FACTORS THREADS [PARAMETER=CYCLES]…
PARAMETER is write, read, under_lock, in_zone, sort or seed";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("calibrate-lru: {message}");
            ExitCode::from(2)
        }
    }
}

fn list<T: FromStr>(words: &str) -> Result<Vec<T>, T::Err> {
    words.split(',').map(str::parse).collect()
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut next = || words.next().ok_or(USAGE);
    let machine = kilocore_machine::find(&next()?)?;
    let pattern: Pattern = next()?.parse()?;
    let variants = list::<Variant>(&next()?)?;
    let (factors, threads) = (list::<u32>(&next()?)?, list::<u32>(&next()?)?);
    let mut setting = Setting::of(&machine);
    let mut length = RunLength::default();
    for word in words {
        let (name, value) = word.split_once('=').ok_or(USAGE)?;
        let value = value.parse().map_err(|error| format!("'{word}': {error}"))?;
        match name {
            "write" => setting.write = Cycles(value),
            "read" => setting.read = Cycles(value),
            "under_lock" => setting.under_lock = Cycles(value),
            "in_zone" => setting.in_zone = Cycles(value),
            "sort" => setting.sort = Cycles(value),
            "seed" => length.seed = value,
            _ => return Err(format!("there is no parameter '{name}'\n{USAGE}").into()),
        }
    }
    let like = Job {
        setting: &setting,
        variant: Variant::Stock,
        factor: 1,
        pattern,
        folios: Folios::PAGES,
        threads: 1,
        length,
    };
    let jobs = jobs(like, &variants, &factors, &threads);
    let source = PointSource::of_user(false)?;
    println!("{pattern} on {}: MB/s and share of lock wait (simulated)", machine.name);
    for point in sweep(&source, &jobs, &machine, &|| ())? {
        println!(
            "{:18}{:6}{:6}{:10.0}{:8.1} %",
            point.variant,
            point.factor,
            point.threads,
            point.throughput_mb_per_s,
            100.0 * point.lock_wait_share
        );
    }
    Ok(())
}
