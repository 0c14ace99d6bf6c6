//! The variables of an executable file or a library, by its symbol table.

use std::fs::File;
use std::path::Path;

use addr2line::demangle_auto;
use object::{Object, ObjectSymbol, ReadCache, SymbolKind};

use crate::binary::contents;

/// The variables of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// Start, size and name, sorted by start.
    symbols: Vec<(u64, u64, String)>,
}

impl Variables {
    /// Reads a file. There are none if it cannot be read, or if it is no executable file.
    #[must_use]
    pub fn open(path: &Path) -> Self {
        contents(path).map_or_else(|_| Self::default(), |bytes| Self::parse(&bytes))
    }

    /// Reads a file from its bytes.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let Ok(file) = object::File::parse(bytes) else { return Self::default() };
        let mut symbols: Vec<(u64, u64, String)> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.is_definition())
            .filter_map(|symbol| {
                let name = symbol.name().ok().filter(|name| !name.is_empty())?;
                let name = match name.starts_with('_') {
                    true => demangle_auto(name.into(), None).into_owned(),
                    false => name.to_owned(),
                };
                Some((symbol.address(), symbol.size(), name))
            })
            .collect();
        // Of several names for one variable, the shortest is the plainest.
        symbols.sort_by(|a, b| (a.0, a.2.len(), &a.2).cmp(&(b.0, b.2.len(), &b.2)));
        symbols.dedup_by_key(|(start, ..)| *start);
        Self { symbols }
    }

    /// Returns the variable that an address of the file lies in, and how far from its start.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.symbols.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.symbols.get(after.checked_sub(1)?)?;
        let offset = address - start;
        (offset < (*size).max(1)).then_some((name.as_str(), offset))
    }
}

/// Whether a file is a program written in Go. This reads its headers only.
#[must_use]
pub fn is_go(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let headers = ReadCache::new(file);
    object::File::parse(&headers)
        .is_ok_and(|file| file.section_by_name(".note.go.buildid").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something that has a symbol.
    #[unsafe(no_mangle)]
    static KILOCORE_VARIABLE_OF_A_TEST: [std::sync::atomic::AtomicU32; 4] =
        [const { std::sync::atomic::AtomicU32::new(7) }; 4];

    #[test]
    fn a_variable_is_found_by_any_of_its_bytes() {
        let used = &KILOCORE_VARIABLE_OF_A_TEST[1];
        std::hint::black_box(used);
        let variables = Variables::open(&std::env::current_exe().expect("there is one"));
        let known = variables
            .symbols
            .iter()
            .find(|(.., name)| name == "KILOCORE_VARIABLE_OF_A_TEST")
            .expect("it is in the symbol table");
        assert_eq!(variables.at(known.0 + 5), Some(("KILOCORE_VARIABLE_OF_A_TEST", 5)));
        assert_ne!(variables.at(known.0 + 16).map(|(name, _)| name), Some(known.2.as_str()));
        assert_eq!(Variables::parse(b"no file").at(0), None);
    }
}
