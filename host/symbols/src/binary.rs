//! An executable file or a library: where its code lies and what its functions are called.
//!
//! There are two ways to name an address. [`Binary::function`] asks the symbol table, which knows
//! each function that the linker has seen. [`Binary::frames`] asks the debugging information, if
//! there is any. It also knows source lines and inlined functions.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use addr2line::demangle_auto;
use kilocore_linux::foreign_files::FileIdentity;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::binary_error::BinaryError;
use crate::debug_info::DebugInfo;
use crate::extents::Extents;
use crate::frame::Frame;
use crate::go_table;
use crate::outline::Outline;
use crate::segments::Segments;
use crate::table::{AliasRank, Builder, Table};
use crate::{BuildId, UnwindSections};

/// The symbols and the debugging information of an executable file.
pub struct Binary {
    segments: Segments,
    build_id: Option<BuildId>,
    functions: Table,
    has_symbol_table: bool,
    /// Where the functions without names lie.
    extents: Extents,
    /// The file with the debugging information.
    debug: Option<(PathBuf, FileIdentity)>,
    debug_info: OnceCell<Option<DebugInfo>>,
}

impl fmt::Debug for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binary").field("build_id", &self.build_id).finish_non_exhaustive()
    }
}

impl Binary {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is not an executable file.
    pub fn open(path: &Path) -> Result<Self, BinaryError> {
        Self::of(path, &Outline::open(path)?)
    }

    /// Reads a file whose outline was just read.
    ///
    /// # Errors
    /// If it is not an executable file.
    pub fn of(path: &Path, outline: &Outline) -> Result<Self, BinaryError> {
        let debug = Some((path.to_owned(), outline.identity()));
        Ok(Self { debug, ..Self::parse(path, outline)? })
    }

    /// Reads a file from its bytes. Messages give `path` as the place where they are from. Such a
    /// file has symbols only, and no debugging information.
    ///
    /// # Errors
    /// If they are not an executable file.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, BinaryError> {
        let parse = |error: object::Error| BinaryError::Parse {
            path: path.to_owned(),
            what: error.to_string(),
        };
        let file = object::File::parse(bytes).map_err(parse)?;
        let (functions, has_symbol_table) = functions(&file);
        let size = file.architecture().address_size().map_or(8, |size| size.bytes());
        let extents = match has_symbol_table {
            true => Extents::default(),
            false => UnwindSections::parse(bytes)
                .map(|sections| Extents::of(&sections, file.is_little_endian(), size))
                .unwrap_or_default(),
        };
        Ok(Self {
            segments: Segments::of(&file),
            build_id: file.build_id().ok().flatten().and_then(BuildId::new),
            functions,
            has_symbol_table,
            extents,
            debug: None,
            debug_info: OnceCell::new(),
        })
    }

    /// Takes symbols and debugging information from a separate file, if that file is of the same
    /// build. Returns whether it was.
    ///
    /// # Errors
    /// If it cannot be read or is not an executable file.
    pub fn take_debug_file(&mut self, path: &Path) -> Result<bool, BinaryError> {
        let other = Self::open(path)?;
        if other.build_id != self.build_id {
            return Ok(false);
        }
        if other.has_symbol_table {
            self.functions = other.functions;
            self.has_symbol_table = true;
        }
        self.debug = other.debug;
        self.debug_info = OnceCell::new();
        Ok(true)
    }

    /// Returns whether it has a symbol table, and not only the symbols that other files may link
    /// to.
    #[must_use]
    pub fn has_symbol_table(&self) -> bool {
        self.has_symbol_table
    }

    /// Returns the build id, if the linker wrote one.
    #[must_use]
    pub fn build_id(&self) -> Option<&BuildId> {
        self.build_id.as_ref()
    }

    /// Returns the address that the file itself gives to a byte of it.
    #[must_use]
    pub fn address(&self, offset: u64) -> Option<u64> {
        self.segments.address(offset)
    }

    /// Returns where the file's address zero lies in memory if the part of the file from `offset` on
    /// is mapped at `memory`; wrapped around if that is below zero.
    #[must_use]
    pub fn zero(&self, memory: Range<u64>, offset: u64) -> Option<u64> {
        self.segments.zero(memory, offset)
    }

    /// Returns the function in which an address of the file lies, by its symbol table. The name is
    /// demangled, and inlined functions are not known.
    #[must_use]
    pub fn function(&self, address: u64) -> Option<String> {
        self.functions.at(address).map(|(symbol, _)| demangle(symbol))
    }

    /// Returns where functions lie, each with what `wanted` says of its name as the linker knows it,
    /// without a version. Of several names for one address, only one is asked for.
    #[must_use]
    pub fn functions(&self, wanted: &dyn Fn(&str) -> Option<usize>) -> Vec<(usize, Range<u64>)> {
        let plain = |name: &str| wanted(name.split('@').next().unwrap_or(name));
        self.functions.iter().filter_map(|(name, code)| Some((plain(name)?, code))).collect()
    }

    /// Returns the start of the function in which an address of a stripped file lies. Such a
    /// function has no name, but the unwind tables say where it lies.
    #[must_use]
    pub fn function_start(&self, address: u64) -> Option<u64> {
        self.extents.start(address)
    }

    /// Returns the functions at an address of the file. There are several if some are inlined, with
    /// the innermost first. There is at least one, but its name may be empty.
    #[must_use]
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let open =
            || self.debug.as_ref().and_then(|(path, identity)| DebugInfo::open(path, *identity));
        let info = self.debug_info.get_or_init(open);
        // The reader uses the next address, and the last address has none.
        let info = info.as_ref().filter(|_| address != u64::MAX);
        let mut frames = info.map(|info| info.frames(address)).unwrap_or_default();
        // If there is no debugging information, or no name in it, the symbol table may have one.
        if frames.last().is_none_or(|frame| frame.function.is_empty()) {
            let line = frames.pop().and_then(|frame| frame.line);
            frames.push(Frame { function: self.function(address).unwrap_or_default(), line });
        }
        frames
    }
}

/// Returns a symbol's name as it is in the source.
fn demangle(symbol: &str) -> String {
    // The demangler would take names of C functions such as `f` for C++ types.
    let is_mangled = symbol.starts_with('_');
    if is_mangled { demangle_auto(symbol.into(), None).into_owned() } else { symbol.to_owned() }
}

/// Returns the functions of a file's symbol table, and whether it has one. If it has none, they are
/// those of the table of symbols to which other files may link, and those that Go's runtime knows.
fn functions(file: &object::File<'_>) -> (Table, bool) {
    let mut builder = Builder::default();
    let mut any = false;
    for symbol in file.symbols() {
        any = true;
        add_function(&mut builder, file, &symbol);
    }
    if !any {
        for symbol in file.dynamic_symbols() {
            add_function(&mut builder, file, &symbol);
        }
        for (start, end, name) in go_table::functions(file) {
            let rank = AliasRank::new(false, false, name);
            builder.add(start, Some(end - start), (true, true, rank), name, 0);
        }
    }
    // The last function ends about there.
    (builder.build(4096), any)
}

/// Orders functions before labels, and what has a size before what has none.
type Rank = (bool, bool, AliasRank);

/// Adds a symbol if it names code.
fn add_function<'data>(
    builder: &mut Builder<Rank>,
    file: &object::File<'data>,
    symbol: &impl ObjectSymbol<'data>,
) {
    let is_function = symbol.kind() == SymbolKind::Text;
    let is_label = symbol.kind() == SymbolKind::Unknown
        && symbol
            .section_index()
            .and_then(|index| file.section_by_index(index).ok())
            .is_some_and(|section| section.kind() == object::SectionKind::Text);
    let Ok(name) = symbol.name() else { return };
    if !symbol.is_definition() || !(is_function || is_label) || name.is_empty() {
        return;
    }
    let size = Some(symbol.size()).filter(|size| *size != 0);
    let rank = AliasRank::new(symbol.is_weak(), symbol.is_global(), name);
    builder.add(symbol.address(), size, (is_function, size.is_some(), rank), name, 0);
}
