//! The memory map of the process: which file's code lay at an address.
//!
//! It is the text of `/proc/self/maps`. A first line `build=PATH` stands for `$build` in the names
//! that follow:
//!
//! ```text
//! 55ff04984000-55ff04985000 r-xp 00001000 fe:01 10068113   /usr/bin/worker
//! ```

use std::io::BufRead;

use super::super::error::ReadError;
use super::super::lines::{Line, Lines};
use super::super::task::Task;

/// The most mappings of code; the kernel allows a process some 65,530 of any kind by default.
const MOST: usize = 1 << 16;

/// What memory without a file is called.
const NO_FILE: &str = "[anon]";

/// A part of a file that was mapped to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    /// The file, or what the kernel calls memory without one.
    pub(crate) path: String,
}

impl Mapping {
    /// Where in the file an address lies.
    pub(crate) fn offset(&self, address: u64) -> u64 {
        address.wrapping_sub(self.start).wrapping_add(self.offset)
    }
}

/// All that can be run, by address.
#[derive(Debug, Default)]
pub(crate) struct Mappings(Vec<Mapping>);

impl Mappings {
    /// Reads all lines that are left. Those that are no mappings are passed over.
    pub(crate) fn read<R: BufRead>(
        lines: &mut Lines<R>,
        task: &Task<'_>,
    ) -> Result<Self, ReadError> {
        let (mut all, mut bytes) = (Vec::new(), 0);
        let mut build = None;
        while let Some((_, line)) = lines.next().map_err(|error| task.failed(error))? {
            let Line::Text(text) = line else { continue };
            let text = String::from_utf8_lossy(text);
            if let Some(path) = text.trim().strip_prefix("build=") {
                build = Some(path.to_owned());
            }
            let Some(mut mapping) = parse(&text) else { continue };
            if let (Some(build), Some(rest)) = (&build, mapping.path.strip_prefix("$build")) {
                mapping.path = format!("{build}{rest}");
            }
            bytes += mapping.path.len();
            all.push(mapping);
            if all.len() > MOST {
                return Err(task.too_large("mappings", MOST));
            }
            if bytes > task.options.limits.name_bytes {
                let limit = task.options.limits.name_bytes;
                return Err(task.too_large("bytes of names of mapped files", limit));
            }
        }
        all.sort_by_key(|mapping| mapping.start);
        Ok(Self(all))
    }

    /// Whether nothing was mapped.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mapping in which an address lies.
    pub(crate) fn at(&self, address: u64) -> Option<&Mapping> {
        let behind = self.0.partition_point(|mapping| mapping.start <= address);
        self.0[..behind].last().filter(|mapping| address < mapping.end)
    }
}

/// Reads a line, if it is a mapping that can be run.
fn parse(line: &str) -> Option<Mapping> {
    let mut rest = line.trim();
    let mut word = || {
        let (word, behind) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        rest = behind.trim_start();
        word
    };
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = word().split_once('-')?;
    let (start, end) = (hex(start)?, hex(end)?);
    let (permissions, offset) = (word(), hex(word())?);
    // The device and the inode.
    word();
    word();
    let is_code = permissions.contains('x') && start < end;
    let path = if rest.is_empty() { NO_FILE } else { rest };
    is_code.then(|| Mapping { start, end, offset, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Options;

    fn read(text: &str) -> Mappings {
        let options = Options::default();
        let task = Task { file: Path::new("/x"), options: &options };
        Mappings::read(&mut Lines::new(text.as_bytes(), 4096), &task).expect("it is small")
    }

    #[test]
    fn code_is_found_by_its_address() {
        let maps = read(
            "build=/opt/a build\n\
             00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a worker (deleted)\n\
             00651000-00652000 r--p 00051000 08:02 173521      /usr/bin/a worker\n\
             7f00-7f10 r-xp 00000020 08:02 7 $build/lib.so\n\
             7ffe0000-7ffe2000 r-xp 00000000 00:00 0 \n\
             one line of something else\n\
             9000-8000 r-xp 0 0 0 /backwards\n",
        );
        let at = |address| maps.at(address).map(|found| (&*found.path, found.offset(address)));
        assert_eq!(at(0x40_0123), Some(("/usr/bin/a worker (deleted)", 0x1123)));
        assert_eq!(at(0x7f0f), Some(("/opt/a build/lib.so", 0x2f)));
        assert_eq!(at(0x7ffe_0001), Some((NO_FILE, 1)));
        for nowhere in [0, 0x7eff, 0x7f10, 0x8800, 0x45_2000, 0x65_1000, u64::MAX] {
            assert_eq!(at(nowhere), None, "{nowhere:#x}");
        }
        assert!(read("no map\n").is_empty());
    }
}
