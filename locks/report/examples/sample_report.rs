//! Writes the report of the tests' sample into a directory and prints its tables, to look at
//! after a change of the templates: `cargo run -p kilocore-lock-report --example sample_report -- DIR`.

use std::path::Path;

use kilocore_lock_report::terminal;
use kilocore_show::described;
use kilocore_show::terminal::machine_table;
use kilocore_show::write;

#[path = "../tests/report/sample.rs"]
mod sample;
#[path = "../tests/report/threads.rs"]
mod threads;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(directory) = std::env::args().nth(1) else {
        return Err("give the directory to write into".into());
    };
    let sample = sample::Sample::new();
    for ending in ["html", "svg", "csv", "json", "md"] {
        let file = |stem: &str| Path::new(&directory).join(stem).with_extension(ending);
        write(&file("forecast"), &sample.report())?;
        write(&file("curves"), &sample.curves_report())?;
    }
    let mut profile = sample.profile.clone();
    let times = threads::times("worker");
    println!("{}", terminal::times_table(&times, 100));
    profile.runs[0].times = Some(times);
    std::fs::write(
        Path::new(&directory).join("waits.html"),
        kilocore_lock_report::waits_page(&profile, None)?,
    )?;
    println!("{}", terminal::forecast_table(&sample.forecast, 100, false));
    println!("{}", terminal::curves_table(&sample.forecast.curves, 80));
    println!("{}", machine_table(&described(&sample.machine), 100));
    Ok(())
}
