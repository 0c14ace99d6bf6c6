//! Which functions a program's return addresses are in.
//!
//! The stream says which files were mapped where. Their symbols are read when somebody asks for the first
//! address in a file, from the file as it is then.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use kilocore_references::{Backing, Mapping, PageNumber, Region};
use kilocore_symbols::Binary;

use crate::advice::frame::Frame;
use crate::advice::regions::{Piece, Regions};

/// The files that are mapped, and their symbols.
#[derive(Debug, Default)]
pub(crate) struct Code {
    files: Regions<Rc<str>>,
    /// None of those that cannot be read.
    binaries: HashMap<Rc<str>, Option<Binary>>,
    known: HashMap<(Rc<str>, u64), Vec<Frame>>,
}

impl Code {
    /// Memory was mapped. Returns whether other files are mapped than before.
    pub(crate) fn map(&mut self, mapping: &Mapping) -> bool {
        let changed = self.unmap(mapping.region);
        let Backing::File(path) = &mapping.backing else { return changed };
        self.files.insert(Piece { region: mapping.region, owner: path.as_ref().into() });
        true
    }

    /// Memory was given back. Returns whether there was a file.
    pub(crate) fn unmap(&mut self, region: Region) -> bool {
        !self.files.remove(region).is_empty()
    }

    /// The functions that a return address is in: one, or several where inlined, the innermost first.
    pub(crate) fn frames(&mut self, returns_to: u64) -> Vec<Frame> {
        // The call is before the address that it returns to, which may be in the next function.
        let address = returns_to.saturating_sub(1);
        let Some(file) = self.files.find(PageNumber::of_address(address)).cloned() else {
            return vec![Frame { offset: address, ..Frame::default() }];
        };
        // The beginning of a file is mapped first, and lowest.
        let mut parts = self.files.iter().filter(|(_, other)| **other == file);
        let base = parts.next().map_or(0, |(first, _)| first.address());
        let behind = address.wrapping_sub(base);
        let key = (file, behind);
        if let Some(frames) = self.known.get(&key) {
            return frames.clone();
        }
        let open = || Binary::open(Path::new(&*key.0)).ok();
        let binary = self.binaries.entry(key.0.clone()).or_insert_with(open);
        let frames = named(binary.as_ref(), &key.0, behind);
        self.known.insert(key, frames.clone());
        frames
    }
}

/// The functions at a distance behind the beginning of a file.
fn named(binary: Option<&Binary>, path: &str, behind: u64) -> Vec<Frame> {
    let first = binary.and_then(|binary| binary.address(0)).unwrap_or(0);
    let offset = behind.wrapping_add(first);
    let mut frames = binary.map_or_else(|| vec![Default::default()], |it| it.frames(offset));
    if let (Some(binary), [.., last]) = (binary, &mut frames[..])
        && last.function.is_empty()
    {
        last.function = binary.function(offset).unwrap_or_default();
    }
    let module = path.to_owned();
    let frame = |kilocore_symbols::Frame { function, line }| Frame {
        function,
        module: module.clone(),
        offset,
        line,
    };
    frames.into_iter().map(frame).collect()
}
