//! Names for addresses, after the program has ended.

use std::collections::HashMap;
use std::fmt;
use std::fs;

use addr2line::{Loader, demangle_auto};
use object::{Object, ObjectSegment};

use crate::Frame;

/// A stretch of a process's memory that was mapped from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Offset of `start` in the file.
    pub(crate) offset: u64,
    pub(crate) path: String,
}

/// A part of an executable file, and the addresses that the file gives it.
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

/// What is known of an executable file.
struct Binary {
    loader: Option<Loader>,
    segments: Vec<Segment>,
}

impl Binary {
    /// Reads a file; knows nothing if that fails, or if it is a device, of which `/dev/zero` is
    /// one that memory may be mapped from.
    fn open(path: &str) -> Self {
        if !fs::metadata(path).is_ok_and(|file| file.is_file()) {
            return Self { loader: None, segments: Vec::new() };
        }
        Self { loader: Loader::new(path).ok(), segments: segments(path).unwrap_or_default() }
    }

    /// The address that the file itself gives to a byte of it.
    fn address(&self, offset: u64) -> Option<u64> {
        self.segments
            .iter()
            .find(|segment| offset.checked_sub(segment.offset).is_some_and(|at| at < segment.size))
            .map(|segment| segment.address.wrapping_add(offset - segment.offset))
    }
}

/// Where an ELF file's segments lie.
fn segments(path: &str) -> Option<Vec<Segment>> {
    let bytes = fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let segments = file.segments().map(|segment| {
        let (offset, size) = segment.file_range();
        Segment { offset, size, address: segment.address() }
    });
    Some(segments.collect())
}

/// Names addresses, and remembers the files it has read.
#[derive(Default)]
pub struct Symbols {
    binaries: HashMap<String, Binary>,
    known: HashMap<(String, u64), Vec<Frame>>,
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols").field("binaries", &self.binaries.len()).finish_non_exhaustive()
    }
}

impl Symbols {
    /// The functions that a return address lies in: one, or several where inlined, the innermost
    /// first.
    pub(crate) fn frames(&mut self, modules: &[Module], return_address: u64) -> Vec<Frame> {
        // The call is before the address it returns to, which may be in the next function.
        let address = return_address - 1;
        let module = modules.iter().find(|module| (module.start..module.end).contains(&address));
        let Some(module) = module else {
            return vec![Frame {
                function: String::new(),
                module: String::new(),
                offset: address,
                line: None,
            }];
        };
        let path = module.path.strip_suffix(" (deleted)").unwrap_or(&module.path);
        let offset = (address - module.start).wrapping_add(module.offset);
        let key = (path.to_owned(), offset);
        if let Some(frames) = self.known.get(&key) {
            return frames.clone();
        }
        let binary = self.binaries.entry(path.to_owned()).or_insert_with(|| Binary::open(path));
        let frames = name(binary, path, offset);
        self.known.insert(key, frames.clone());
        frames
    }
}

/// The functions at an offset in a file.
fn name(binary: &Binary, path: &str, offset: u64) -> Vec<Frame> {
    let address = binary.address(offset).unwrap_or(offset);
    let frame =
        |function: String, line| Frame { function, module: path.to_owned(), offset: address, line };
    let Some(loader) = &binary.loader else { return vec![frame(String::new(), None)] };
    let mut frames = Vec::new();
    if let Ok(mut inlined) = loader.find_frames(address) {
        while let Ok(Some(found)) = inlined.next() {
            let function = found.function.as_ref().and_then(|name| name.demangle().ok());
            let line = found
                .location
                .and_then(|location| Some(format!("{}:{}", location.file?, location.line?)));
            frames.push(frame(function.map_or_else(String::new, |name| name.into_owned()), line));
        }
    }
    // Without debugging information, or without a name in it, the symbol table has one.
    if frames.last().is_none_or(|frame| frame.function.is_empty()) {
        let line = frames.pop().and_then(|frame| frame.line);
        let symbol = loader.find_symbol(address).unwrap_or("");
        // Names of C functions such as `f` would be taken for C++ types.
        let is_mangled = symbol.starts_with('_');
        let name = if is_mangled { demangle_auto(symbol.into(), None) } else { symbol.into() };
        frames.push(frame(name.into_owned(), line));
    }
    frames
}
