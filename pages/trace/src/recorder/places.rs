//! The places in the kernel that are traced, and what their records say.
//!
//! * `kmem:mm_page_alloc`: a block was allocated. Its flags say whether it is to be filled with
//!   zeroes.
//! * `kmem:mm_page_free`: a block is about to be free. Every release passes here. The place
//!   `mm_page_free_batched` is only passed besides, by those of them that go back together, so it
//!   would tell the same twice.

use kilocore_linux::perf_events::{Field, Tracefs, Tracepoint};

use crate::recorder::RecordError;

const ALLOCATE: &str = "kmem/mm_page_alloc";
const RELEASE: &str = "kmem/mm_page_free";

/// The kernel's flags of what a thread is in: an interrupt, or work that an interrupt left behind.
const IN_INTERRUPT: u64 = 0x08 | 0x10 | 0x40;
/// What stands for no page, where an allocation failed.
const NO_FRAME: u64 = u64::MAX;

/// A number of a page of physical memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Frame(pub(crate) u64);

/// What happened to a block, as the kernel says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Happened {
    Allocated { frame: Frame, order: u8, zeroed: bool, movable: bool },
    Released { frame: Frame, order: u8 },
}

/// The places, and where their fields are.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    allocate: Block,
    release: Block,
    flags: Field,
    zeroed: u64,
    movable: u64,
    /// The bits of huge pages for programs. The fault that asks for one fills it itself.
    huge: u64,
}

/// What both places tell.
#[derive(Debug, Clone, Copy)]
struct Block {
    id: u64,
    frame: Field,
    order: Field,
    context: Field,
}

impl Places {
    /// Finds both tracepoints in tracefs, and the fields of their records.
    pub(crate) fn find() -> Result<Self, RecordError> {
        let tracefs = Tracefs::open()?;
        Self::of(&tracefs.find(ALLOCATE)?, &tracefs.find(RELEASE)?)
    }

    fn of(allocate: &Tracepoint, release: &Tracepoint) -> Result<Self, RecordError> {
        let flag = |part| allocate.flag(part).ok_or(RecordError::Unknown { place: ALLOCATE, part });
        let part = "gfp_flags";
        let unknown = RecordError::Unknown { place: ALLOCATE, part };
        Ok(Self {
            allocate: Block::of(allocate, ALLOCATE)?,
            release: Block::of(release, RELEASE)?,
            flags: allocate.field(part).ok_or(unknown)?,
            zeroed: flag("__GFP_ZERO")?,
            movable: flag("__GFP_MOVABLE")?,
            huge: flag("__GFP_MOVABLE")? | flag("__GFP_COMP")? | flag("__GFP_NOMEMALLOC")?,
        })
    }

    /// The numbers of the places.
    pub(crate) fn ids(&self) -> [u64; 2] {
        [self.allocate.id, self.release.id]
    }

    /// What a record's raw data say, and whether it happened in an interrupt. `None` if they are of
    /// another place, or an allocation failed.
    pub(crate) fn read(&self, raw: &[u8]) -> Option<(Happened, bool)> {
        // The kernel begins its raw data with the number of the place.
        let id = u64::from(u16::from_ne_bytes(*raw.first_chunk()?));
        let block = [self.allocate, self.release].into_iter().find(|block| block.id == id)?;
        let frame = Frame(block.frame.of(raw).filter(|frame| *frame != NO_FRAME)?);
        let order = u8::try_from(block.order.of(raw)?).ok()?;
        let in_interrupt = block.context.of(raw)? & IN_INTERRUPT != 0;
        let happened = if id == self.release.id {
            Happened::Released { frame, order }
        } else {
            let flags = self.flags.of(raw)?;
            let huge = order > 0 && flags & self.huge == self.huge;
            Happened::Allocated {
                frame,
                order,
                zeroed: flags & self.zeroed != 0 || huge,
                movable: flags & self.movable != 0,
            }
        };
        Some((happened, in_interrupt))
    }
}

impl Block {
    fn of(place: &Tracepoint, name: &'static str) -> Result<Self, RecordError> {
        let field = |part| place.field(part).ok_or(RecordError::Unknown { place: name, part });
        Ok(Self {
            id: place.id,
            frame: field("pfn")?,
            order: field("order")?,
            context: field("common_flags")?,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const FIELDS: &str = "\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n";
    const FLAGS: &str = "\tfield:unsigned long gfp_flags;\toffset:24;\tsize:8;\tsigned:0;\n\n\
        print fmt: \"%s\", __print_flags(x, \"|\", {{( gfp_t)0x100u), \"__GFP_ZERO\"}, \
        {( gfp_t)0x8u), \"__GFP_MOVABLE\"}, {( gfp_t)0x40000u), \"__GFP_COMP\"}, \
        {( gfp_t)0x80000u), \"__GFP_NOMEMALLOC\"})\n";

    /// Places as a kernel has them, with the numbers 653 and 655.
    pub(crate) fn places() -> Places {
        let parse = |text: &str| Tracepoint::parse(text).expect("a place");
        let (allocate, release) =
            (format!("ID: 653\n{FIELDS}{FLAGS}"), format!("ID: 655\n{FIELDS}"));
        Places::of(&parse(&allocate), &parse(&release)).expect("all is there")
    }

    /// A record's raw data.
    pub(crate) fn raw(id: u16, context: u8, frame: u64, order: u32, flags: u64) -> Vec<u8> {
        let mut raw = vec![0; 32];
        raw[..2].copy_from_slice(&id.to_ne_bytes());
        raw[2] = context;
        raw[8..16].copy_from_slice(&frame.to_ne_bytes());
        raw[16..20].copy_from_slice(&order.to_ne_bytes());
        raw[24..].copy_from_slice(&flags.to_ne_bytes());
        raw
    }

    #[test]
    fn records_say_what_happened() {
        let places = places();
        let allocated = |order, flags| match places.read(&raw(653, 0, 77, order, flags)) {
            Some((Happened::Allocated { frame: Frame(77), zeroed, movable, .. }, false)) => {
                (zeroed, movable)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(allocated(0, 0x108), (true, true));
        assert_eq!(allocated(0, 0xc_0008), (false, true), "a page alone is not huge");
        assert_eq!(allocated(9, 0xc_0008), (true, true), "a huge page is filled by its fault");
        assert_eq!(allocated(9, 0x4_0008), (false, true), "a part of a file is not");
        let released = Happened::Released { frame: Frame(77), order: 3 };
        assert_eq!(places.read(&raw(655, 0x10, 77, 3, 0)), Some((released, true)));
        assert_eq!(places.read(&raw(655, 0x01, 77, 3, 0)), Some((released, false)));
        assert_eq!(places.read(&raw(653, 0, u64::MAX, 0, 0)), None, "it failed");
        assert_eq!(places.read(&raw(654, 0, 77, 0, 0)), None, "another place");
        assert_eq!(places.read(&raw(655, 0, 77, 0, 0)[..12]), None, "it ends too early");
    }

    #[test]
    fn a_kernel_that_says_less_is_refused() {
        let place = Tracepoint::parse("ID: 1\n").expect("a number");
        let error = Places::of(&place, &place).expect_err("it has no fields").to_string();
        assert!(error.contains("kmem/mm_page_alloc has no pfn"), "{error}");
    }

    #[test]
    fn this_kernel_is_understood_or_says_why_not() {
        match Places::find() {
            Ok(places) => assert_ne!(places.allocate.id, places.release.id),
            Err(error) => assert!(!matches!(error, RecordError::Unknown { .. }), "{error}"),
        }
    }
}
