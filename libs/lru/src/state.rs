//! The state of a frame: one word that says which list it belongs to, and who may take it off.
//!
//! | bits of [`State`] | the frame is |
//! | --- | --- |
//! | none | not a member: nobody has added it |
//! | `MEMBER` | in an addition batch, or in the hands of the one thread that isolated it |
//! | `MEMBER`, `LISTED` | linked into the list that the other bits name |
//!
//! **Whoever clears `LISTED` may unlink the frame**, and nobody else may. So a frame is on one list or
//! on none. As long as `LISTED` is set, the bits that name the list do not change. A thread that sets
//! it links the frame before it releases the lock of the list; a thread that clears it may have to
//! wait for that lock, and then finds the frame linked.
//!
//! `REFERENCED` and the count of uses may change at any time: they are hints.

use crate::folio::{Folio, FolioOrder};
use crate::frame::{Class, FrameId, List};
use crate::generation::Generation;

/// The count of uses goes no further.
pub(crate) const MOST_USES: u32 = 3;

/// The bits of a frame's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State(pub(crate) u32);

impl State {
    /// The frame was added, and not removed since.
    pub(crate) const MEMBER: u32 = 1;
    /// It is linked into a list.
    pub(crate) const LISTED: u32 = 1 << 1;
    /// It belongs to its class's active list.
    pub(crate) const ACTIVE: u32 = 1 << 2;
    /// It was used since somebody last looked.
    pub(crate) const REFERENCED: u32 = 1 << 3;
    /// It belongs to the unevictable list, whatever its class.
    pub(crate) const UNEVICTABLE: u32 = 1 << 4;
    /// It is of a file, and not anonymous.
    pub(crate) const FILE: u32 = 1 << 5;

    /// How often it was used, as far as two bits can count.
    const USES: u32 = 0b11 << Self::USES_SHIFT;
    const USES_SHIFT: u32 = 6;
    /// Its generation, where lists have generations.
    const GENERATION: u32 = 0b11 << Self::GENERATION_SHIFT;
    const GENERATION_SHIFT: u32 = 8;
    /// The order of its folio. It does not change while it is a member.
    const ORDER: u32 = 0b1111 << Self::ORDER_SHIFT;
    const ORDER_SHIFT: u32 = 10;

    /// Nobody has added it.
    pub(crate) const OUT: State = State(0);

    /// A member of a class, on no list yet.
    pub(crate) const fn new(class: Class) -> Self {
        match class {
            Class::Anonymous => State(Self::MEMBER),
            Class::File => State(Self::MEMBER | Self::FILE),
        }
    }

    /// The same as the head of a folio. It was that of a single page.
    pub(crate) const fn of_folio(self, order: FolioOrder) -> Self {
        self.with((order.get() as u32) << Self::ORDER_SHIFT)
    }

    /// The order of its folio.
    pub(crate) const fn order(self) -> FolioOrder {
        match FolioOrder::new(((self.0 & Self::ORDER) >> Self::ORDER_SHIFT) as u8) {
            Some(order) => order,
            None => FolioOrder::LARGEST,
        }
    }

    pub(crate) const fn has(self, bits: u32) -> bool {
        self.0 & bits == bits
    }

    pub(crate) const fn with(self, bits: u32) -> Self {
        State(self.0 | bits)
    }

    pub(crate) const fn without(self, bits: u32) -> Self {
        State(self.0 & !bits)
    }

    pub(crate) const fn class(self) -> Class {
        if self.has(Self::FILE) { Class::File } else { Class::Anonymous }
    }

    /// Its folio, by the frame of which this is the state.
    pub(crate) const fn folio(self, head: FrameId) -> Folio {
        Folio { head, order: self.order() }
    }

    /// The list to which it belongs.
    pub(crate) const fn list(self) -> List {
        match (self.has(Self::UNEVICTABLE), self.has(Self::ACTIVE)) {
            (true, _) => List::Unevictable,
            (false, true) => List::active(self.class()),
            (false, false) => List::inactive(self.class()),
        }
    }

    /// How often it was used: from 0 to [`MOST_USES`].
    pub(crate) const fn uses(self) -> u32 {
        (self.0 & Self::USES) >> Self::USES_SHIFT
    }

    /// The same page with a count of uses, at most [`MOST_USES`].
    pub(crate) const fn with_uses(self, uses: u32) -> Self {
        let uses = if uses > MOST_USES { MOST_USES } else { uses };
        State(self.0 & !Self::USES | uses << Self::USES_SHIFT)
    }

    pub(crate) const fn generation(self) -> Generation {
        Generation((self.0 & Self::GENERATION) >> Self::GENERATION_SHIFT)
    }

    pub(crate) const fn with_generation(self, generation: Generation) -> Self {
        State(self.0 & !Self::GENERATION | generation.0 << Self::GENERATION_SHIFT)
    }

    /// The same page, used again lately. One that cannot be reclaimed stays where it is.
    pub(crate) const fn activated(self) -> Self {
        if self.has(Self::UNEVICTABLE) {
            return self;
        }
        self.with(Self::ACTIVE).without(Self::REFERENCED)
    }

    /// The same page, not used again lately.
    pub(crate) const fn deactivated(self) -> Self {
        if self.has(Self::UNEVICTABLE) {
            return self;
        }
        self.without(Self::ACTIVE | Self::REFERENCED)
    }
}
