//! Forecasts the profiles kept in `data/profiles` and prints the comparison with the published
//! measurements: setting C of `docs/fidelity.md` alone, without the hours of the others.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match kilocore_end_to_end::compare(Path::new("data"), 1, &|| ()) {
        Ok(comparisons) => {
            print!("{}", kilocore_end_to_end::markdown(&comparisons));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("setting_c: {error}");
            ExitCode::from(2)
        }
    }
}
