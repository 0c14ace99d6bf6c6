//! `kilocore pages run -- CMD…`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use kilocore_process::Start;

use crate::failure::Failure;
use crate::{examples, launch};

const PAGE: u64 = 4 << 10;
const LARGEST: u64 = 2 << 20;

/// Runs a program with its large memory from a page pool.
#[derive(Debug, Args)]
#[command(after_help = examples::PAGES_RUN)]
pub(crate) struct Arguments {
    /// Leave what is smaller alone. Blocks of malloc below 128K always are
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "4K")]
    min: u64,
    /// Leave what is larger alone; 2M is the most that the pool can serve
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "2M")]
    max: u64,
    /// The most that the pool may have in use at a time. It takes addresses, and memory only when it
    /// is used
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "1G")]
    total: u64,
    /// When the program has ended, print on standard error what the pool did
    #[arg(long)]
    statistics: bool,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Reads a number of bytes such as `4096`, `256K`, `2M` or `1G`.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => Some(1),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        _ => None,
    };
    let number = digits.parse::<u64>().ok();
    let bytes = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| "give a number of bytes, such as 256K, 2M or 1G".to_owned())
}

impl Arguments {
    /// Refuses what the pool could not serve.
    fn check(&self) -> Result<(), Failure> {
        let complaint = if self.min == 0 || self.min > LARGEST {
            "--min: give 1 to 2M bytes"
        } else if self.max < PAGE || self.max > LARGEST {
            "--max: give 4K to 2M bytes, as the pool has no larger ranges"
        } else if self.min > self.max {
            "--min is more than --max: make it smaller"
        } else if self.total < LARGEST || self.total > 1 << 40 {
            "--total: give 2M to 1024G bytes"
        } else {
            return Ok(());
        };
        Err(Failure::new(complaint))
    }

    fn environment(&self, library: &Path) -> Vec<(OsString, OsString)> {
        let size = |name: &str, bytes: u64| {
            (OsString::from(format!("KILOCORE_PAGES_{name}")), OsString::from(bytes.to_string()))
        };
        let mut environment = kilocore_process::preload_environment(library);
        environment.extend([
            size("MIN", self.min),
            size("MAX", self.max),
            size("TOTAL", self.total),
        ]);
        environment
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

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    arguments.check()?;
    // SAFETY: sysconf only reads.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    check_page_size(u64::try_from(page).unwrap_or(PAGE))?;
    let mut command = launch::command(&arguments.command)?;
    launch::check_memory_is_served(&arguments.command)?;
    let library = launch::library("libkilocore_pages.so")?;
    let environment = arguments.environment(&library);
    if arguments.statistics {
        return run_and_tell(&arguments.command, environment);
    }
    command.envs(environment).env_remove("KILOCORE_PAGES_STATISTICS");
    kilocore_process::keep_ignored_signals(&mut command);
    // The program takes this process's place, so that its standard streams, its signals and its
    // exit status are its own.
    let error = command.exec();
    Err(launch::cannot_start(&arguments.command[0], &error))
}

/// Runs the program as a child, whose processes leave a line each in a file.
fn run_and_tell(
    command: &[OsString],
    mut environment: Vec<(OsString, OsString)>,
) -> Result<ExitCode, Failure> {
    /// As much as a million processes say.
    const MOST: u64 = 1 << 28;
    let mut file = tempfile::NamedTempFile::new()
        .map_err(|error| Failure::new(format!("cannot make a temporary file: {error}")))?;
    environment.push(("KILOCORE_PAGES_STATISTICS".into(), file.path().into()));
    let end = kilocore_process::run(Start { command, environment, ..Start::default() })
        .map_err(|error| launch::cannot_start(&command[0], &error.into()))?;
    // What is read is the file that was made, whatever has its name by now.
    let mut lines = Vec::new();
    let _ = file.as_file_mut().take(MOST).read_to_end(&mut lines);
    eprint!("{}", told(&String::from_utf8_lossy(&lines)));
    Ok(ExitCode::from(kilocore_process::shell_status(end.status) as u8))
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
    fn sizes_are_read() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("64k"), Ok(64 << 10));
        assert_eq!(bytes("2G"), Ok(2 << 30));
        for wrong in ["", "K", "2MB", "-1", "99999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

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
