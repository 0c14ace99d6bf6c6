//! The symbols of a kernel: `/proc/kallsyms`, a copy of it, or a `System.map`.
//!
//! ```text
//! ffffffff81000000 T _text
//! ffffffff810c4b20 t vfs_read
//! ffffffffc0a41000 t nf_tables_newrule    [nf_tables]
//! ```
//!
//! A line is an address, a letter for the kind, a name and, for code of a module, the module in
//! brackets. Only code (`t`, `w`) gets into the table. A symbol of data ends the code before it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::table::{AliasRank, Builder, Table};

/// Why a file has no usable symbols of a kernel.
#[derive(Debug, thiserror::Error)]
pub enum KernelSymbolsError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// The kernel shows names, but zeros instead of addresses.
    #[error(
        "{path} hides the addresses: read it as root, or let everybody with \
         `sysctl kernel.kptr_restrict=0`"
    )]
    Hidden {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file has no symbol of code.
    #[error("{path} has no symbols of a kernel: `/proc/kallsyms` and `System.map` have")]
    Empty {
        /// The path of the file.
        path: PathBuf,
    },
}

/// A function of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelSymbol<'a> {
    /// The name of the function.
    pub name: &'a str,
    /// The module that it is in, without brackets, or `None` for the kernel itself.
    pub module: Option<&'a str>,
}

/// The functions of a kernel.
#[derive(Debug, Clone)]
pub struct KernelSymbols {
    table: Table,
    /// The module of each tag but 0.
    modules: Vec<String>,
    /// The addresses of the landmarks, which may be shared with functions.
    landmarks: Vec<(&'static str, u64)>,
}

/// Ranks several names for one address. A symbol of data, such as the end of a section, does not
/// replace code at the same address.
type Rank = (bool, AliasRank);

impl KernelSymbols {
    /// The assumed length of the last function, whose end nothing shows.
    const LAST: u64 = 4096;
    /// The symbols by which a recorder tells where the kernel lies.
    const LANDMARKS: [&'static str; 2] = ["_text", "_stext"];

    /// Reads the symbols of the running kernel.
    ///
    /// # Errors
    /// If they cannot be read, or are hidden.
    pub fn of_this_host() -> Result<Self, KernelSymbolsError> {
        Self::read(Path::new("/proc/kallsyms"))
    }

    /// Reads the symbols of a file.
    ///
    /// # Errors
    /// If the file cannot be read, hides the addresses, or has no symbols.
    pub fn read(path: &Path) -> Result<Self, KernelSymbolsError> {
        let fail = |source| KernelSymbolsError::Read { path: path.to_owned(), source };
        Self::parse(path, BufReader::new(File::open(path).map_err(fail)?))
    }

    /// Parses lines of symbols; `path` is for messages only.
    ///
    /// # Errors
    /// If the lines cannot be read, hide the addresses, or hold no symbols.
    pub fn parse(path: &Path, mut lines: impl BufRead) -> Result<Self, KernelSymbolsError> {
        let mut reading = Reading::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line);
            let fail = |source| KernelSymbolsError::Read { path: path.to_owned(), source };
            if read.map_err(fail)? == 0 {
                break;
            }
            if let Some(entry) = std::str::from_utf8(&line).ok().and_then(Entry::parse) {
                reading.add(&entry);
            }
        }
        match (reading.has_code, reading.is_hidden) {
            (true, _) => Ok(reading.finish()),
            (false, true) => Err(KernelSymbolsError::Hidden { path: path.to_owned() }),
            (false, false) => Err(KernelSymbolsError::Empty { path: path.to_owned() }),
        }
    }

    /// The function that an address lies in.
    #[must_use]
    pub fn function(&self, address: u64) -> Option<KernelSymbol<'_>> {
        let (name, tag) = self.table.at(address).filter(|(name, _)| !name.is_empty())?;
        let module = (tag as usize).checked_sub(1).map(|index| &*self.modules[index]);
        Some(KernelSymbol { name, module })
    }

    /// Where a landmark of the kernel lies, `_text` or `_stext`.
    #[must_use]
    pub fn landmark(&self, name: &str) -> Option<u64> {
        self.landmarks.iter().find(|(known, _)| *known == name).map(|(_, address)| *address)
    }
}

/// A file of symbols that is being read.
#[derive(Default)]
struct Reading {
    builder: Builder<Rank>,
    modules: Vec<String>,
    tags: HashMap<String, u32>,
    landmarks: Vec<(&'static str, u64)>,
    has_code: bool,
    is_hidden: bool,
}

impl Reading {
    fn add(&mut self, entry: &Entry<'_>) {
        if entry.address == 0 {
            self.is_hidden |= entry.is_code();
            return;
        }
        let tag = entry.module.map_or(0, |module| self.tag(module));
        let name = if entry.is_code() { entry.name } else { "" };
        self.has_code |= entry.is_code();
        self.builder.add(entry.address, None, entry.rank(), name, tag);
        let landmark = KernelSymbols::LANDMARKS.into_iter().find(|known| *known == entry.name);
        self.landmarks.extend(landmark.map(|name| (name, entry.address)));
    }

    fn tag(&mut self, module: &str) -> u32 {
        if let Some(&tag) = self.tags.get(module) {
            return tag;
        }
        self.modules.push(module.to_owned());
        let tag = self.modules.len() as u32;
        self.tags.insert(module.to_owned(), tag);
        tag
    }

    fn finish(self) -> KernelSymbols {
        let Self { builder, modules, landmarks, .. } = self;
        KernelSymbols { table: builder.build(KernelSymbols::LAST), modules, landmarks }
    }
}

/// A line of `/proc/kallsyms` or `System.map`.
struct Entry<'a> {
    address: u64,
    kind: char,
    name: &'a str,
    module: Option<&'a str>,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let kind = words.next()?.parse().ok()?;
        let name = words.next()?;
        let module = words.next().and_then(|word| word.strip_prefix('[')?.strip_suffix(']'));
        Some(Self { address, kind, name, module })
    }

    fn is_code(&self) -> bool {
        matches!(self.kind, 'T' | 't' | 'W' | 'w')
    }

    fn rank(&self) -> Rank {
        let is_weak = matches!(self.kind, 'W' | 'w');
        (self.is_code(), AliasRank::new(is_weak, self.kind == 'T', self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<KernelSymbols, KernelSymbolsError> {
        KernelSymbols::parse(Path::new("/proc/kallsyms"), text.as_bytes())
    }

    const TEXT: &str = "\
0000000000001000 A cpu_data
ffffffff81000000 t alias
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000040 T start_kernel
ffffffff81000100 D jiffies
ffffffff81000200 w weak
ffffffffc0000000 t init_it\t[some_module]
ffffffffc0000010 d table\t[some_module]
";

    #[test]
    fn code_is_named_and_data_is_not() {
        let symbols = parse(TEXT).expect("there is code");
        let name = |address| symbols.function(address).map(|symbol| symbol.name);
        assert_eq!(name(0x1000), None);
        assert_eq!(name(0xffff_ffff_8100_0000), Some("_stext"));
        assert_eq!(name(0xffff_ffff_8100_00ff), Some("start_kernel"));
        assert_eq!(name(0xffff_ffff_8100_0100), None);
        assert_eq!(name(0xffff_ffff_8100_0200), Some("weak"));
        let in_module = symbols.function(0xffff_ffff_c000_000f).expect("it is named");
        assert_eq!(in_module, KernelSymbol { name: "init_it", module: Some("some_module") });
        assert_eq!(name(0xffff_ffff_c000_0010), None);
        assert_eq!(symbols.landmark("_text"), Some(0xffff_ffff_8100_0000));
        assert_eq!(symbols.landmark("start_kernel"), None);
    }

    #[test]
    fn hidden_addresses_are_told_from_no_symbols() {
        let hidden = "0000000000000000 T _text\n0000000000000000 t f [m]\n";
        let message = parse(hidden).expect_err("there are none").to_string();
        assert!(message.contains("/proc/kallsyms hides") && message.contains("kptr_restrict"));
        let message = parse("nothing of the kind").expect_err("there are none").to_string();
        assert!(message.contains("no symbols of a kernel"), "{message}");
        let missing = KernelSymbols::read(Path::new("/nonexistent/System.map"));
        assert!(missing.expect_err("it is not there").to_string().contains("/nonexistent"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = KernelSymbols::parse(Path::new("x"), &*bytes);
        }

        #[test]
        fn any_addresses_are_read(
            lines in "([0-9a-f]{1,17} [TtWdA] _{0,2}[a-z]{1,3}( \\[m\\])?\n){1,20}", at: u64,
        ) {
            if let Ok(symbols) = parse(&lines) {
                let _ = symbols.function(at);
            }
        }
    }
}
