//! The variables of an executable file or a library, by its symbol table.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use addr2line::demangle_auto;
use kilocore_linux::foreign_files::{ForeignFile, Room, Taken};
use object::{Object, ObjectSymbol, SymbolKind};

use crate::outline::{Outline, headers};

/// The variables of a file.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// Start, size and name as the linker knows it, sorted by start.
    symbols: Vec<(u64, u64, String)>,
    _taken: Option<Arc<Taken>>,
}

impl Variables {
    /// Reads a file. There are none if it cannot be read, or if it is no executable file.
    #[must_use]
    pub fn open(path: &Path) -> Self {
        Outline::open(path).map_or_else(|_| Self::default(), |bytes| Self::parse(&bytes))
    }

    /// Reads a file from its bytes. There are none if there is no room for them.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let Ok(file) = object::File::parse(bytes) else { return Self::default() };
        // As in a table of functions, many symbols can share the bytes of one name.
        let mut left = 1_usize << 26;
        let mut symbols: Vec<(u64, u64, String)> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.is_definition())
            .filter_map(|symbol| {
                let name = symbol.name().ok().filter(|name| !name.is_empty())?;
                left = left.checked_sub(name.len())?;
                Some((symbol.address(), symbol.size(), name.to_owned()))
            })
            .collect();
        // Of several names for one variable, the shortest is the plainest.
        symbols.sort_by(|a, b| (a.0, a.2.len(), &a.2).cmp(&(b.0, b.2.len(), &b.2)));
        symbols.dedup_by_key(|(start, ..)| *start);
        let names: usize = symbols.iter().map(|(.., name)| name.capacity()).sum();
        let bytes = names + size_of_val(symbols.as_slice());
        match Room::of_this_process().take(bytes as u64) {
            Ok(taken) => Self { symbols, _taken: Some(Arc::new(taken)) },
            Err(_) => Self::default(),
        }
    }

    /// Returns the variable that an address of the file lies in, as it is called in the source, and how far from its
    /// start.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<(Cow<'_, str>, u64)> {
        let after = self.symbols.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.symbols.get(after.checked_sub(1)?)?;
        let offset = address - start;
        // A large program has tens of thousands of variables, of which few are asked for.
        let plain = || match name.starts_with('_') {
            true => demangle_auto(name.into(), None),
            false => name.into(),
        };
        (offset < (*size).max(1)).then(|| (plain(), offset))
    }
}

/// Whether a file is a program written in Go. This reads its headers only.
#[must_use]
pub fn is_go(path: &Path) -> bool {
    let Ok(file) = ForeignFile::open(path) else { return false };
    let Ok(headers) = headers(&file) else { return false };
    object::File::parse(&*headers)
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
        assert_eq!(variables.at(known.0 + 5), Some(("KILOCORE_VARIABLE_OF_A_TEST".into(), 5)));
        assert_ne!(variables.at(known.0 + 16).map(|(name, _)| name), Some(known.2.as_str().into()));
        assert_eq!(Variables::parse(b"no file").at(0), None);
    }
}
