//! Forecasts the profiles kept in `data/profiles` and prints the comparison with the published
//! measurements: setting C of `docs/evidence/fidelity.md` alone, without the hours of the others.
//!
//! `setting_c PAGE GAINS` puts it into that section of the page instead, and how far gains were off
//! into the file that the advice takes it from.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use kilocore_fidelity::data::DataSet;
use kilocore_fidelity::profiles::{compare, gain_errors_file, markdown};

/// How the section of the page begins, and the next one.
const SECTION: &str = "## Setting C";
const NEXT: &str = "\n## ";

/// The page with another text in the section.
fn with_section(page: &str, text: &str) -> Result<String, String> {
    let missing = || format!("no section '{SECTION}'");
    let heading = page.find(SECTION).ok_or_else(missing)?;
    let begin = page[heading..].find('\n').ok_or_else(missing)? + heading + 1;
    let end = page[begin..].find(NEXT).map_or(page.len(), |end| begin + end);
    Ok(format!("{}\n{}\n{}", &page[..begin], text.trim_end(), &page[end..]))
}

fn run() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let data = Path::new("data");
    let sets = DataSet::read_all(&data.join("litl"))?;
    let comparisons = compare(&data.join("profiles"), &sets, 1, &|| ())?;
    let text = markdown(&comparisons);
    let [page, gains] = words.as_slice() else {
        print!("{text}");
        return Ok(());
    };
    fs::write(page, with_section(&fs::read_to_string(page)?, &text)?)?;
    fs::write(gains, gain_errors_file(&comparisons).ok_or("no profile of a measured program")?)?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("setting_c: {error}");
            ExitCode::from(2)
        }
    }
}
