//! Comparing two saved runs of `kilocore bench`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use kilocore_command_line::{Failure, output};
use kilocore_kernel_bench::{Document, compare};

/// What two runs of the same on a quiet host differ by.
pub(crate) const LEAST_CHANGE: f64 = 3.0;

pub(super) fn percent(text: &str) -> Result<f64, String> {
    let refuse = || format!("'{text}' is no such percentage; write 0 to 1000");
    let percent: f64 = text.parse().map_err(|_| refuse())?;
    (0.0..=1000.0).contains(&percent).then_some(percent).ok_or_else(refuse)
}

/// Compares two saved runs, the second with the first.
pub(super) fn compare_files(
    first_path: &Path,
    second_path: &Path,
    least: f64,
    json: bool,
) -> Result<(), Failure> {
    let (first, second) = (read(first_path)?, read(second_path)?);
    let found = compare(&first, &second, least / 100.0);
    if found.comparisons.is_empty() {
        return Err(Failure::new(format!(
            "{} and {} have no benchmark on the same number of cores in common",
            first_path.display(),
            second_path.display()
        )));
    }
    if json {
        output::json(&found)?;
    } else {
        output::print(&found.table().plain(output::width()));
    }
    Ok(())
}

/// The largest file that is read: many times what a long run of everything takes.
const MOST_BYTES: u64 = 256 << 20;

/// Reads a saved run of the benchmarks.
pub(crate) fn read(path: &Path) -> Result<Document, Failure> {
    let text = text(path)
        .map_err(|error| Failure::new(format!("{error}; name a saved run")).about(path))?;
    Document::parse(&text).map_err(|error| Failure::from(error).about(path))
}

fn text(path: &Path) -> std::io::Result<String> {
    let too_large = || {
        let message = format!("it is larger than {} MiB", MOST_BYTES >> 20);
        std::io::Error::new(std::io::ErrorKind::FileTooLarge, message)
    };
    let file = File::open(path)?;
    if file.metadata()?.len() > MOST_BYTES {
        return Err(too_large());
    }
    let mut text = String::new();
    // What is no regular file has no size, and one may grow.
    if file.take(MOST_BYTES + 1).read_to_string(&mut text)? as u64 > MOST_BYTES {
        return Err(too_large());
    }
    Ok(text)
}
