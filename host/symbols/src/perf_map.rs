//! The symbols that a just-in-time compiler writes to `/tmp/perf-PID.map`:
//!
//! ```text
//! 7f3c5c000b40 1c0 LazyCompile:~handle /srv/app.js:12
//! 7f3c5c000d00 8a Ljava/lang/String;::hashCode
//! ```
//!
//! A line is an address and a size, both hexadecimal, and a name. When code is discarded, its line
//! stays in the file. So where two lines overlap, the later one is valid.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use kilocore_linux::foreign_files::{ForeignFile, own_user, users_of_process};

use crate::table::{Builder, Table};

/// The symbols of one process's generated code.
#[derive(Debug, Clone, Default)]
pub struct PerfMap {
    table: Table,
}

impl PerfMap {
    /// The path of a process's map.
    #[must_use]
    pub fn path(pid: u32) -> PathBuf {
        Path::new("/tmp").join(format!("perf-{pid}.map"))
    }

    /// Reads the map of a process. It lies where anybody can put a file, so it must belong to the user of
    /// the process, to the user of this one, or to root. Of a process that has ended, no user is known.
    /// Returns `None` if there is none.
    #[must_use]
    pub fn of_process(pid: u32) -> Option<Self> {
        /// Far more than compilers write.
        const LARGEST: u64 = 1 << 28;
        let mut owners = users_of_process(pid);
        owners.extend([0, own_user()]);
        let file = ForeignFile::open_in_shared_folder(&Self::path(pid), &owners).ok()?;
        Self::parse(BufReader::new(file.reader(LARGEST).ok()?)).ok()
    }

    /// Parses a map. Invalid lines are left out.
    ///
    /// # Errors
    /// If the lines cannot be read.
    pub fn parse(mut lines: impl BufRead) -> io::Result<Self> {
        let mut builder = Builder::default();
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? != 0 {
            let text = String::from_utf8_lossy(&line);
            if let Some((start, size, name)) = entry(text.trim_end()) {
                builder.add(start, Some(size), (), name, 0);
            }
            line.clear();
        }
        Ok(Self { table: builder.build(0) })
    }

    /// The name of the function that an address lies in.
    #[must_use]
    pub fn function(&self, address: u64) -> Option<&str> {
        self.table.at(address).map(|(name, _)| name)
    }
}

/// The parts of a line.
fn entry(line: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = line.trim_start().split_once(' ')?;
    let (size, name) = rest.trim_start().split_once(' ')?;
    let number =
        |digits: &str| u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok();
    let name = name.trim();
    (!name.is_empty()).then_some((number(start)?, number(size)?, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_may_have_spaces_and_lines_may_be_broken() {
        let text = "7f00 10 old\n7f00 20 LazyCompile:~f /a b.js:3\nnonsense\n\n0x8000 8 g\n9000 1";
        let map = PerfMap::parse(text.as_bytes()).expect("memory can be read");
        assert_eq!(map.function(0x7f1f), Some("LazyCompile:~f /a b.js:3"));
        assert_eq!(map.function(0x7f20), None);
        assert_eq!(map.function(0x8007), Some("g"));
        assert_eq!(map.function(0x9000), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let map = PerfMap::parse(&*bytes).expect("memory can be read");
            let _ = map.function(0x10);
        }

        #[test]
        fn any_numbers_are_read(lines in "([0-9a-f]{1,17} [0-9a-f]{1,17} [a-z]\n){0,20}", at: u64) {
            let map = PerfMap::parse(lines.as_bytes()).expect("memory can be read");
            let _ = map.function(at);
        }
    }
}
