//! `kilocore run --pages`: large memory from a page pool.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Destination, Failure};
use kilocore_process::Start;

use crate::bytes::bytes;
use crate::launch;

const PAGE: u64 = 4 << 10;
const LARGEST: u64 = 2 << 20;

/// What of a program's memory comes from a page pool.
#[derive(Debug, Args)]
pub(super) struct Pages {
    /// Serve the program's large memory from a page pool
    #[arg(long)]
    pages: bool,
    /// Leave what is smaller alone [default: 4K]. Blocks of malloc below 128K always are
    #[arg(long, value_name = "BYTES", value_parser = bytes, requires = "pages")]
    pages_min: Option<u64>,
    /// Leave what is larger alone [default: 2M, which is the most that the pool can serve]
    #[arg(long, value_name = "BYTES", value_parser = bytes, requires = "pages")]
    pages_max: Option<u64>,
    /// The most that the pool may have in use at a time [default: 1G]. It takes addresses, and memory
    /// only when it is used
    #[arg(long, value_name = "BYTES", value_parser = bytes, requires = "pages")]
    pages_total: Option<u64>,
    /// When the program has ended, print on standard error what the pool did
    #[arg(long, requires = "pages")]
    pages_statistics: bool,
}

/// Names the file in which each process says what its pool did.
pub(super) const STATISTICS: &str = "KILOCORE_PAGES_STATISTICS";

impl Pages {
    /// Whether there is to be a pool.
    pub(super) fn are_wanted(&self) -> bool {
        self.pages
    }

    /// Whether the pool is to say what it did.
    pub(super) fn tells(&self) -> bool {
        self.pages_statistics
    }

    /// The least and the most bytes of what the pool serves, and of all of it.
    fn sizes(&self) -> [u64; 3] {
        let &Self { pages_min, pages_max, pages_total, .. } = self;
        [pages_min.unwrap_or(PAGE), pages_max.unwrap_or(LARGEST), pages_total.unwrap_or(1 << 30)]
    }

    /// Refuses what the pool could not serve, and a kernel on which it cannot.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let [min, max, total] = self.sizes();
        let complaint = if min == 0 || min > LARGEST {
            "--pages-min: give 1 to 2M bytes"
        } else if !(PAGE..=LARGEST).contains(&max) {
            "--pages-max: give 4K to 2M bytes, as the pool has no larger ranges"
        } else if min > max {
            "--pages-min is more than --pages-max: make it smaller"
        } else if !(LARGEST..=1 << 40).contains(&total) {
            "--pages-total: give 2M to 1024G bytes"
        } else {
            // SAFETY: sysconf only reads.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            return check_page_size(u64::try_from(page).unwrap_or(PAGE));
        };
        Err(Failure::new(complaint))
    }

    /// The variables that say so to the library.
    pub(super) fn environment(&self) -> impl Iterator<Item = (OsString, OsString)> {
        ["MIN", "MAX", "TOTAL"].into_iter().zip(self.sizes()).map(|(name, bytes)| {
            (OsString::from(format!("KILOCORE_PAGES_{name}")), OsString::from(bytes.to_string()))
        })
    }
}

/// Refuses a kernel whose pages are larger than the pool's: to clear one of the pool's would clear its
/// neighbours.
fn check_page_size(bytes: u64) -> Result<(), Failure> {
    if bytes <= PAGE {
        return Ok(());
    }
    let complaint = format!(
        "this kernel's pages have {bytes} bytes, and those of the pool {PAGE}: run the program without it, or on \
         a kernel with pages of {PAGE} bytes"
    );
    Err(Failure::new(complaint))
}

/// Runs the program as a child, whose processes leave a line each in a file.
pub(super) fn run_and_tell(
    command: &[OsString],
    mut environment: Vec<(OsString, OsString)>,
) -> Result<ExitCode, Failure> {
    /// As much as a million processes say.
    const MOST: u64 = 1 << 28;
    let mut file = tempfile::NamedTempFile::new()
        .map_err(|error| Failure::new(format!("cannot make a temporary file: {error}")))?;
    environment.push((STATISTICS.into(), file.path().into()));
    let end = kilocore_process::run(Start { command, environment, ..Start::default() })
        .map_err(|error| launch::cannot_start(&command[0], error.into()))?;
    // What is read is the file that was made, whatever has its name by now.
    let mut lines = Vec::new();
    let _ = file.as_file_mut().take(MOST).read_to_end(&mut lines);
    Destination::Stderr.print(&told(&String::from_utf8_lossy(&lines)));
    let status = kilocore_process::shell_status(end.status);
    launch::check_loaded(command, status)?;
    Ok(ExitCode::from(status as u8))
}

/// Returns what the lines of all processes say together.
fn told(lines: &str) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in lines.split_whitespace().filter_map(|word| word.split_once('=')) {
        if let Ok(count) = count.parse::<u64>()
            && name != "pid"
        {
            *sums.entry(name).or_default() += count;
        }
    }
    let processes = lines.lines().count();
    let mut text = format!("kilocore: processes that had a page pool: {processes}\n");
    for (name, what) in ROWS {
        let count = sums.get(name).copied().unwrap_or(0);
        text += &format!("{count:>14} {what}\n");
    }
    text
}

/// What is printed, by the names of the lines.
const ROWS: [(&str, &str); 12] = [
    ("mappings", "mappings served"),
    ("blocks", "blocks of malloc served"),
    ("full", "requests that the pool had no room for"),
    ("private", "pages from private-hot lists"),
    ("shared", "pages from shared-hot lists"),
    ("cold", "pages from the cold tier; all longer ranges are"),
    ("zero", "pages that had to be zero and were"),
    ("cleared", "pages that had to be zero and were cleared"),
    ("discarded", "pages given back to the system as they were unmapped"),
    ("decayed", "pages given back to the system because they were idle"),
    ("replaced", "pages mapped anew, because the program had altered their mapping"),
    ("lost", "pages that could not be mapped anew"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_with_larger_pages_is_refused() {
        assert!(check_page_size(4096).is_ok());
        let complaint = check_page_size(65536).expect_err("they are larger");
        assert!(format!("{complaint:?}").contains("pages have 65536 bytes"), "{complaint:?}");
    }

    #[test]
    fn lines_of_processes_are_added() {
        let text = told("pid=1 name=a mappings=3 cold=10\npid=2 name=b=c mappings=4 cold=1\n");
        assert!(text.starts_with("kilocore: processes that had a page pool: 2\n"), "{text}");
        assert!(text.contains("             7 mappings served\n"), "{text}");
        assert!(text.contains("            11 pages from the cold tier"), "{text}");
    }
}
