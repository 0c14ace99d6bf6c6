//! Where in the program memory is allocated.
//!
//! A site is the functions of the program that asked for memory, without those that only pass it on. A few
//! of them tell sites apart. The name of a site has the innermost two; if another site has them, too, more.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use kilocore_references::{Callers, Mapping, Region};

use crate::advice::allocators::{is_allocator, make_heap, makes_thread, only_passes_on, tells};
use crate::advice::code::Code;
use crate::advice::frame::Frame;

/// So many functions tell sites apart.
const MOST_FRAMES: usize = 4;
/// So many of them are in the name of a site that no other one resembles.
const FEWEST_SHOWN: usize = 2;
/// The sites of so many different callers are remembered. Beyond that they are found anew each time.
const MOST_KNOWN: usize = 1 << 16;

/// Functions that ask for memory.
#[derive(Debug, Clone)]
pub struct Site {
    frames: Rc<[Frame]>,
    /// How many of them are in its name.
    shown: usize,
    /// Whether the innermost call's address is.
    with_address: bool,
}

impl Site {
    fn new(frames: Vec<Frame>) -> Self {
        Self { frames: frames.into(), shown: FEWEST_SHOWN, with_address: false }
    }

    /// The functions that tell it from others, the innermost first. There is at least one.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The same with only one function in its name.
    fn in_short(self) -> Self {
        Self { shown: 1, ..self }
    }

    /// Makes the name longer, if that is possible: by one more function, and in the end by the address of the
    /// call. One line of a source may have several calls.
    pub(crate) fn show_more(&mut self) -> bool {
        self.shown = self.shown.min(self.frames.len()) + 1;
        let can = self.shown <= self.frames.len() || !self.with_address;
        self.with_address |= self.shown > self.frames.len();
        can
    }
}

/// Sites are the same wherever their names end.
impl PartialEq for Site {
    fn eq(&self, other: &Self) -> bool {
        self.frames == other.frames
    }
}

impl Eq for Site {}

impl std::hash::Hash for Site {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.frames.hash(state);
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, frame) in self.frames.iter().take(self.shown).enumerate() {
            write!(f, "{}{frame}", if index > 0 { " via " } else { "" })?;
        }
        match self.frames.first() {
            Some(frame) if self.with_address => write!(f, " at {:#x}", frame.offset),
            _ => Ok(()),
        }
    }
}

/// What callers ask for memory for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// For data of their own.
    Own(Site),
    /// As the stack of a thread that they start.
    ThreadStack(Site),
    /// To cut blocks from it.
    Heap,
}

/// The sites that were seen.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    code: Code,
    /// As long as the same files are mapped.
    known: HashMap<Callers, Purpose>,
}

impl Sites {
    /// What these callers have mapped memory for. There are some.
    pub(crate) fn of_mapping(&mut self, callers: &Callers) -> Purpose {
        if let Some(known) = self.known.get(callers) {
            return known.clone();
        }
        let frames = self.frames(callers);
        let purpose = if make_heap(&frames) {
            Purpose::Heap
        } else if frames.iter().any(makes_thread) {
            Purpose::ThreadStack(site(frames).in_short())
        } else {
            Purpose::Own(site(frames))
        };
        self.remember(callers, purpose)
    }

    /// Where a block was allocated, by callers that were told with it.
    pub(crate) fn of_block(&mut self, callers: &Callers) -> Site {
        // The callers of a block end in the library that tells of it, and those of a mapping do not.
        if let Some(Purpose::Own(known)) = self.known.get(callers) {
            return known.clone();
        }
        let found = site(self.frames(callers));
        self.remember(callers, Purpose::Own(found.clone()));
        found
    }

    fn frames(&mut self, callers: &Callers) -> Vec<Frame> {
        callers.addresses().iter().flat_map(|&address| self.code.frames(address)).collect()
    }

    fn remember(&mut self, callers: &Callers, purpose: Purpose) -> Purpose {
        if self.known.len() < MOST_KNOWN {
            self.known.insert(callers.clone(), purpose.clone());
        }
        purpose
    }

    /// Learns that memory was mapped. If code was mapped there, what is known of callers no longer
    /// holds.
    pub(crate) fn map(&mut self, mapping: &Mapping) {
        if self.code.map(mapping) {
            self.known.clear();
        }
    }

    /// Memory was given back.
    pub(crate) fn unmap(&mut self, region: Region) {
        if self.code.unmap(region) {
            self.known.clear();
        }
    }
}

/// The site of some callers, the innermost first.
fn site(frames: Vec<Frame>) -> Site {
    // Where all belongs to libraries, at least it can be said to which.
    let in_program = frames.iter().find(|frame| !is_allocator(frame));
    let in_library = in_program.or_else(|| frames.iter().find(|frame| !tells(frame))).cloned();
    let mut worth_naming: Vec<Frame> =
        frames.into_iter().filter(|frame| !only_passes_on(frame)).take(MOST_FRAMES).collect();
    if worth_naming.is_empty() {
        worth_naming.push(in_library.unwrap_or_default());
    }
    Site::new(worth_naming)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_one_line_are_told_apart_by_their_addresses_at_last() {
        let frame = |function: &str, offset| Frame {
            function: function.into(),
            module: "/bin/relax".into(),
            offset,
            line: Some("relax.cpp:11".into()),
        };
        let site = |offset| Site::new(vec![frame("main", offset)]);
        let (mut first, second) = (site(0x10), site(0x20));
        assert!(first != second);
        assert_eq!(first.to_string(), second.to_string());
        assert!(first.show_more());
        assert_eq!(first.to_string(), "main (relax.cpp:11) at 0x10");
        assert!(!first.show_more(), "there is nothing more");
        let mut outer = Site::new(["a", "b", "c"].map(|name| frame(name, 7)).into());
        assert!(outer.show_more());
        let name = "a (relax.cpp:11) via b (relax.cpp:11) via c (relax.cpp:11)";
        assert_eq!(outer.to_string(), name);
        assert!(outer.show_more() && !outer.show_more());
        assert_eq!(outer.to_string(), format!("{name} at 0x7"));
    }
}
