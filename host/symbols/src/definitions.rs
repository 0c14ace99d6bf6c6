//! A few symbols of a file, where all of them would be too many: a large library has tens of
//! thousands, of which somebody who only looks for one need not make tables.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use object::{Object, ObjectSymbol};

use crate::build_id::BuildId;
use crate::debug_files::DebugFiles;
use crate::outline::Outline;
use crate::segments::Segments;

/// Some functions and variables of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    symbols: BTreeMap<String, Range<u64>>,
    segments: Segments,
}

impl Definitions {
    /// Reads the symbols of a file that are `wanted` by their names as the linker knows them, without
    /// a version. If the file has no symbol table, that of a separate file of the same build counts as
    /// well. There are none if the file cannot be read.
    #[must_use]
    pub fn open(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Self {
        let read = |path: &Path| Outline::open(path).map(|bytes| Self::parse(&bytes, wanted));
        let Ok((mut all, id, is_stripped)) = read(path) else { return Self::default() };
        let id = id.filter(|_| is_stripped);
        for path in id.iter().flat_map(|id| DebugFiles::default().debug(id)) {
            if let Ok((more, of, _)) = read(&path)
                && of == id
            {
                all.symbols.extend(more.symbols);
            }
        }
        all
    }

    /// Those of a file's bytes, its build id, and whether it has no symbol table.
    fn parse(bytes: &[u8], wanted: &dyn Fn(&str) -> bool) -> (Self, Option<BuildId>, bool) {
        let Ok(file) = object::File::parse(bytes) else { return (Self::default(), None, false) };
        let mut symbols = BTreeMap::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else { continue };
            let name = name.split('@').next().unwrap_or(name);
            if symbol.is_definition() && wanted(name) {
                let start = symbol.address();
                symbols.insert(name.to_owned(), start..start.saturating_add(symbol.size()));
            }
        }
        let segments = Segments::of(&file);
        let is_stripped = file.symbols().next().is_none();
        let id = file.build_id().ok().flatten().and_then(BuildId::new);
        (Self { symbols, segments }, id, is_stripped)
    }

    /// Returns where they lie in memory, by name, if the part of the file from `offset` on is mapped at
    /// `memory`.
    #[must_use]
    pub fn in_memory(&self, memory: Range<u64>, offset: u64) -> BTreeMap<String, Range<u64>> {
        let Some(zero) = self.segments.zero(memory, offset) else { return BTreeMap::new() };
        let moved = |of: &Range<u64>| of.start.wrapping_add(zero)..of.end.wrapping_add(zero);
        self.symbols.iter().map(|(name, of)| (name.clone(), moved(of))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something that has a symbol.
    #[unsafe(no_mangle)]
    static KILOCORE_DEFINITION_OF_A_TEST: [std::sync::atomic::AtomicU32; 4] =
        [const { std::sync::atomic::AtomicU32::new(7) }; 4];

    #[test]
    fn what_is_wanted_is_found() {
        std::hint::black_box(&KILOCORE_DEFINITION_OF_A_TEST[1]);
        let wanted = |name: &str| name == "KILOCORE_DEFINITION_OF_A_TEST";
        let own = Definitions::open(&std::env::current_exe().expect("there is one"), &wanted);
        let found: Vec<_> = own.symbols.values().map(|of| of.end - of.start).collect();
        assert_eq!(found, [16]);
        assert_eq!(Definitions::parse(b"no file", &wanted).0, Definitions::default());
        assert_eq!(Definitions::open(Path::new("/nowhere"), &wanted), Definitions::default());
    }
}
