//! Names for the addresses of a recording, after the program has ended.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use kilocore_symbols::Binary;

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

/// Names addresses, and remembers the files it has read.
#[derive(Default)]
pub struct Symbols {
    /// The files; none for those that cannot be read.
    binaries: HashMap<String, Option<Binary>>,
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
        let key = (module.path.clone(), offset);
        if let Some(frames) = self.known.get(&key) {
            return frames.clone();
        }
        // What is at the path of a file that is gone is another one.
        let binary = self.binary(&module.path);
        let address = binary.and_then(|binary| binary.address(offset)).unwrap_or(offset);
        let frames = name(binary, path, address);
        self.known.insert(key, frames.clone());
        frames
    }

    /// The functions that an instruction lies in which is so far behind the lowest address at which its
    /// file is mapped. The frames are numbered like those of a recording.
    #[must_use]
    pub fn frames_behind(&mut self, path: &str, behind: u64) -> Vec<Frame> {
        let binary = self.binary(path);
        // A file's beginning is mapped lowest.
        let lowest = binary.and_then(|binary| binary.address(0)).unwrap_or(0);
        name(binary, path, lowest.wrapping_add(behind))
    }

    fn binary(&mut self, path: &str) -> Option<&Binary> {
        let open = || Binary::open(Path::new(path)).ok();
        self.binaries.entry(path.to_owned()).or_insert_with(open).as_ref()
    }
}

/// The functions at an address as its file numbers it.
fn name(binary: Option<&Binary>, path: &str, address: u64) -> Vec<Frame> {
    let frames = binary.map_or_else(|| vec![Default::default()], |binary| binary.frames(address));
    frames
        .into_iter()
        .map(|kilocore_symbols::Frame { function, line }| Frame {
            function,
            module: path.to_owned(),
            offset: address,
            line,
        })
        .collect()
}
