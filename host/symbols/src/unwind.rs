//! What an executable file says of how its functions' callers are found.

use std::ops::Range;

use object::{Object, ObjectSection, ObjectSegment};

/// A section, by the addresses that the file gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The addresses at which the file wants it.
    pub addresses: Range<u64>,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The sections that tell how to unwind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnwindSections {
    /// The lowest address of the file.
    pub base: u64,
    /// Where its code lies.
    pub text: Option<Range<u64>>,
    /// Where its table of addresses lies.
    pub got: Option<Range<u64>>,
    /// The section `.eh_frame`: how each function's caller is found.
    pub eh_frame: Option<Section>,
    /// The section `.eh_frame_hdr`: a sorted index of `.eh_frame`.
    pub eh_frame_hdr: Option<Section>,
}

impl UnwindSections {
    /// Those of an executable file; none if these bytes are none, or it has none.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        let range = |name| {
            let section = file.section_by_name(name)?;
            Some(section.address()..section.address().checked_add(section.size())?)
        };
        let whole = |name| {
            let section = file.section_by_name(name)?;
            // What is loaded with a program is never compressed. What says so could be of any size.
            let bytes = section.data().ok()?.to_owned();
            let end = section.address().checked_add(bytes.len() as u64)?;
            Some(Section { addresses: section.address()..end, bytes })
        };
        let eh_frame = whole(".eh_frame")?;
        Some(Self {
            base: file.segments().map(|segment| segment.address()).min()?,
            text: range(".text"),
            got: range(".got"),
            eh_frame: Some(eh_frame),
            eh_frame_hdr: whole(".eh_frame_hdr"),
        })
    }
}
