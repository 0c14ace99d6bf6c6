//! Prints the section on its own: `cargo run --release --example section`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    match kilocore_end_to_end::compare(&data, 1, &|| ()) {
        Ok(comparisons) => {
            print!("{}", kilocore_end_to_end::markdown(&comparisons));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("section: {error}");
            ExitCode::from(2)
        }
    }
}
