//! Forecasts the profiles kept in `data/profiles` and prints the comparison with the published
//! measurements: setting C of `docs/evidence/fidelity.md` alone, without the hours of the others.
//!
//! `setting_c PAGE FOLDER` puts it between the marks of that section instead, and what the advice is built with
//! into the folder.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use kilocore_fidelity::data::DataSet;
use kilocore_fidelity::profiles::{Kept, MARK, compare, markdown};
use kilocore_points::PointSource;
use kilocore_show::markdown::Marked;

fn run() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let data = Path::new("data");
    let sets = DataSet::read_all(&data.join("litl"))?;
    let source = PointSource::of_user(false)?;
    let comparisons = compare(&data.join("profiles"), &sets, &source, 1, &|| ())?;
    let text = markdown(&comparisons);
    let [page, folder] = words.as_slice() else {
        print!("{text}");
        return Ok(());
    };
    let mut page = Marked::open(Path::new(page))?;
    page.put(MARK, &text)?;
    page.save()?;
    let kept = Kept::of(&comparisons, &sets).ok_or("no profile of a measured program")?;
    Ok(kept.write(Path::new(folder))?)
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
