//! Where a function of a file is called, by the name that somebody types.

use std::ops::Range;
use std::path::Path;

use addr2line::demangle_auto;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::binary_error::BinaryError;
use crate::build_id::BuildId;
use crate::debug_files::DebugFiles;
use crate::go_table;
use crate::outline::Outline;
use crate::segments::Segments;

/// Where the functions of one name begin in a file: there are several if the source has it more than once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries {
    starts: Vec<u64>,
    segments: Segments,
}

impl Entries {
    /// Finds the functions of a name, which is that of the linker or of the source, there with or without the types of
    /// its arguments. If the file has no symbol table, that of a separate file of the same build counts as well.
    ///
    /// # Errors
    /// If the file cannot be read, or is not an executable file.
    pub fn open(path: &Path, function: &str) -> Result<Self, BinaryError> {
        let mut starts = Vec::new();
        let segments = visit(path, &mut |name, start| {
            if is_called(name, function) {
                starts.push(start);
            }
        })?;
        starts.sort_unstable();
        starts.dedup();
        Ok(Self { starts, segments })
    }

    /// Returns whether there is no such function.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns where they lie in memory if the part of the file from `offset` on is mapped at `memory`: those that are
    /// in that part.
    pub fn in_memory(&self, memory: Range<u64>, offset: u64) -> impl Iterator<Item = u64> {
        let zero = self.segments.zero(memory.clone(), offset);
        let moved = move |&start: &u64| Some(start.wrapping_add(zero?));
        self.starts.iter().filter_map(moved).filter(move |start| memory.contains(start))
    }
}

/// Returns the names of a file's functions as the source has them, without the types of their arguments.
///
/// # Errors
/// If the file cannot be read, or is not an executable file.
pub fn function_names(path: &Path) -> Result<Vec<String>, BinaryError> {
    let mut names = Vec::new();
    visit(path, &mut |name, _| names.push(short(name)))?;
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Calls `found` with the name of each function as the linker knows it, without a version, and with its first address.
fn visit(path: &Path, found: &mut dyn FnMut(&str, u64)) -> Result<Segments, BinaryError> {
    let outline = Outline::open(path)?;
    let (segments, id, is_stripped) = parse(path, &outline, found)?;
    let id = id.filter(|_| is_stripped);
    for debug in id.iter().flat_map(|id| DebugFiles::default().debug(id)) {
        let Ok(outline) = Outline::open(&debug) else { continue };
        let mut names = Vec::new();
        let of = parse(&debug, &outline, &mut |name, start| names.push((name.to_owned(), start)));
        if of.is_ok_and(|(_, of, _)| of == id) {
            names.iter().for_each(|(name, start)| found(name, *start));
            break;
        }
    }
    Ok(segments)
}

/// The same of a file's bytes. Returns its segments and build id, and whether it has no symbol table.
fn parse(
    path: &Path,
    bytes: &[u8],
    found: &mut dyn FnMut(&str, u64),
) -> Result<(Segments, Option<BuildId>, bool), BinaryError> {
    let file = object::File::parse(bytes)
        .map_err(|error| BinaryError::Parse { path: path.to_owned(), what: error.to_string() })?;
    let is_code = |symbol: &object::Symbol<'_, '_>| {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        let in_code = section.is_some_and(|section| section.kind() == object::SectionKind::Text);
        symbol.is_definition()
            && (symbol.kind() == SymbolKind::Text
                || symbol.kind() == SymbolKind::Unknown && in_code)
    };
    for symbol in file.symbols().chain(file.dynamic_symbols()).filter(is_code) {
        if let Ok(name) = symbol.name() {
            found(name.split('@').next().unwrap_or(name), symbol.address());
        }
    }
    let is_stripped = file.symbols().next().is_none();
    if is_stripped {
        go_table::functions(&file).into_iter().for_each(|(start, _, name)| found(name, start));
    }
    let id = file.build_id().ok().flatten().and_then(BuildId::new);
    Ok((Segments::of(&file), id, is_stripped))
}

/// A linker's name without what compilers put behind that of a function whose only copy they have changed.
fn original(name: &str) -> &str {
    let Some((front, number)) = name.rsplit_once('.') else { return name };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let changed = [".constprop", ".isra"].iter().find_map(|how| front.strip_suffix(how));
    changed.filter(|_| is_number).map_or(name, original)
}

/// Whether a function with this name of the linker's is the one that somebody calls so.
fn is_called(linked: &str, wanted: &str) -> bool {
    let linked = original(linked);
    if linked == wanted {
        return true;
    }
    // Mangled names have the words of the source in them.
    let front = wanted.split(['(', '<']).next().unwrap_or(wanted);
    let word = front.rsplit("::").next().unwrap_or(front);
    if word.is_empty() || !linked.starts_with('_') || !linked.contains(word) {
        return false;
    }
    let source = demangle_auto(linked.into(), None);
    source.match_indices(wanted).any(|(at, _)| {
        let (before, after) = (&source[..at], &source[at + wanted.len()..]);
        is_result(before) && ends_name(after)
    })
}

/// Whether a type, or nothing, is all that stands before a function's name.
fn is_result(before: &str) -> bool {
    let depth = |open, close| before.matches(open).count() == before.matches(close).count();
    (before.is_empty() || before.ends_with(' ')) && depth('<', '>') && !before.contains('(')
}

/// Whether a function's name has ended where this follows.
fn ends_name(after: &str) -> bool {
    let is_hash =
        |hash: &str| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    after.is_empty()
        || after.starts_with(['(', '<'])
        || after.starts_with("[abi:")
        || after.strip_prefix("::h").is_some_and(is_hash)
}

/// A function's name as the source has it, without the types of its arguments and what compilers add.
fn short(linked: &str) -> String {
    let linked = original(linked);
    if !linked.starts_with('_') {
        return linked.to_owned();
    }
    let source = demangle_auto(linked.into(), None);
    let end = if source.starts_with('(') {
        source.len()
    } else {
        source.find('(').unwrap_or(source.len())
    };
    let name = &source[..end];
    match name.rsplit_once("::h") {
        Some((front, hash)) if ends_name(&format!("::h{hash}")) => front.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_the_names_of_linkers_and_of_sources() {
        for (linked, wanted) in [
            ("solve", "solve"),
            ("solve.constprop.0", "solve"),
            ("solve.isra.0.constprop.12", "solve"),
            ("main.(*T).solve", "main.(*T).solve"),
            ("_ZN2ns5solveEi", "_ZN2ns5solveEi"),
            ("_ZN2ns5solveEi", "ns::solve"),
            ("_ZN2ns5solveEi", "ns::solve(int)"),
            ("_ZN2ns5solveIiEEvT_", "ns::solve"),
            ("_ZN4core5solve17h0123456789abcdefE", "core::solve"),
        ] {
            assert!(is_called(linked, wanted), "{linked} {wanted}");
        }
        for (linked, wanted) in [
            ("solver", "solve"),
            ("solve.part.0", "solve"),
            ("solve.cold", "solve"),
            ("_ZN2ns5solveEi", "solve"),
            ("_ZN2ns5solveEi", "ns::solve(long)"),
            ("_ZN2ns6solverEv", "ns::solve"),
            ("_ZN2ns5solve5innerEv", "ns::solve"),
            // ns::other<ns::solve<int> >(ns::solve<int>)
            ("_ZN2ns5otherINS_5solveIiEEEEvT_", "ns::solve"),
            ("_ZN2ns5solveEi", ""),
        ] {
            assert!(!is_called(linked, wanted), "{linked} {wanted}");
        }
        assert_eq!(short("_ZN2ns5solveEi"), "ns::solve");
        assert_eq!(short("_ZN4core5solve17h0123456789abcdefE"), "core::solve");
        assert_eq!(short("solve.isra.0"), "solve");
    }

    #[unsafe(no_mangle)]
    extern "C" fn kilocore_entry_of_a_test() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn a_function_of_this_program_is_where_it_is_called() {
        assert_eq!(kilocore_entry_of_a_test(), 7);
        let path = std::env::current_exe().expect("there is one");
        let entries = Entries::open(&path, "kilocore_entry_of_a_test").expect("a program");
        assert_eq!(entries.starts.len(), 1);
        let maps = kilocore_linux::maps::own().expect("there is /proc");
        let own = maps.iter().filter(|line| line.file().map(Path::new) == Some(&path));
        let found: Vec<u64> =
            own.flat_map(|line| entries.in_memory(line.start..line.end, line.offset)).collect();
        assert_eq!(found, [(kilocore_entry_of_a_test as *const ()).addr() as u64]);
        let names = function_names(&path).expect("a program");
        assert!(names.iter().any(|name| name == "kilocore_entry_of_a_test"));
        assert!(Entries::open(&path, "kilocore_no_entry").is_ok_and(|none| none.is_empty()));
        assert!(Entries::open(Path::new("/nowhere"), "any").is_err());
    }
}
