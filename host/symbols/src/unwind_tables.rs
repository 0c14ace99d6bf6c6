//! The sections that tell how to unwind, as `framehop` takes them.

use std::ops::{Deref, Range};
use std::rc::Rc;

use framehop::{ExplicitModuleSectionInfo, Module};
use kilocore_linux::foreign_files::{Room, Taken};

use crate::{Section, UnwindSections};

/// Bytes that several modules share, and the room that was taken for them.
#[derive(Debug, Clone, Default)]
pub struct TableBytes(Rc<(Box<[u8]>, Option<Taken>)>);

impl Deref for TableBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.0
    }
}

/// The sections of a file that tell how to unwind its functions, for any number of processes.
#[derive(Debug, Clone)]
pub struct UnwindTables {
    /// The lowest address of the file.
    pub base: u64,
    text: Option<Range<u64>>,
    got: Option<Range<u64>>,
    eh_frame: Option<(Range<u64>, TableBytes)>,
    eh_frame_hdr: Option<(Range<u64>, TableBytes)>,
}

impl UnwindTables {
    /// Those of a file's sections, without those for which there is no room.
    #[must_use]
    pub fn new(sections: UnwindSections) -> Self {
        let shared = |Section { addresses, bytes }| {
            let taken = Room::of_this_process().take(bytes.len() as u64).ok()?;
            Some((addresses, TableBytes(Rc::new((bytes.into(), Some(taken))))))
        };
        Self {
            base: sections.base,
            text: sections.text,
            got: sections.got,
            eh_frame: sections.eh_frame.and_then(shared),
            eh_frame_hdr: sections.eh_frame_hdr.and_then(shared),
        }
    }

    /// Makes a module of a process. `zero` is where the file's address zero lies in the process's
    /// memory.
    #[must_use]
    pub fn module(&self, range: Range<u64>, zero: u64) -> Module<TableBytes> {
        let addresses = |section: &Option<(Range<u64>, TableBytes)>| {
            section.as_ref().map(|(addresses, _)| addresses.clone())
        };
        let bytes = |section: &Option<(Range<u64>, TableBytes)>| {
            section.as_ref().map(|(_, bytes)| bytes.clone())
        };
        let info = ExplicitModuleSectionInfo {
            base_svma: self.base,
            text_svma: self.text.clone(),
            got_svma: self.got.clone(),
            eh_frame_svma: addresses(&self.eh_frame),
            eh_frame: bytes(&self.eh_frame),
            eh_frame_hdr_svma: addresses(&self.eh_frame_hdr),
            eh_frame_hdr: bytes(&self.eh_frame_hdr),
            ..ExplicitModuleSectionInfo::default()
        };
        Module::new(String::new(), range, zero.wrapping_add(self.base), info)
    }
}

/// Returns a function that reads numbers of a copied stack, whose first byte was at `start`.
pub fn stack_reader(stack: &[u8], start: u64) -> impl FnMut(u64) -> Result<u64, ()> {
    move |address| {
        let at = address.checked_sub(start).and_then(|at| usize::try_from(at).ok()).ok_or(())?;
        let bytes = stack.get(at..at.checked_add(8).ok_or(())?).ok_or(())?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| ())?))
    }
}
