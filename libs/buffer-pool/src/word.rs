//! The word of a frame: what it holds, and who uses it.
//!
//! | bits of [`Word`] | the frame is |
//! | --- | --- |
//! | `FREE` | on a stack of free frames, or about to be |
//! | `PARKED` | beyond the pool's capacity |
//! | `LOADING` | in the table, and its page is being read, or about to be created |
//! | `VALID` | in the table, and has its page |
//! | `DISCARDED` | without a page, and on a list all the same, from which reclaim will take it |
//! | none of these | in the hands of one thread, which evicted its page or took it from a stack |
//!
//! A frame that has a page may also be in use by the pool itself, which writes the page (`WRITING`)
//! or is about to discard it (`DISCARDING`). One thread at a time has that bit, and as long as it
//! is there, nobody else takes the page away. It is no pin, so that all pins are those of guards,
//! or of threads that look for a page. With pins in the mark's place, a pool that wrote back
//! refused pages as `AllPinned` though nobody had a guard. Who asks for a frame sleeps until the
//! mark goes, as it goes by itself.
//!
//! Pins, shared latches and hits are counted in the same word, so that a hit is one atomic addition and its
//! end another. A thread pins a frame *before* it knows what that holds, and takes the pin back if it is
//! something else. So a pin on a frame without a page means nothing, and every transition leaves the counts
//! alone: it adds or takes away bits, and never stores the word.

/// The bits and counts of a frame's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    /// It has its page.
    pub(crate) const VALID: u64 = 1;
    /// Its page is to come. Who pinned it may wait until this has gone.
    pub(crate) const LOADING: u64 = 1 << 1;
    /// Its page was changed since it was last written.
    pub(crate) const DIRTY: u64 = 1 << 2;
    /// One thread is about to write it, or is writing it. It keeps its page meanwhile.
    pub(crate) const WRITING: u64 = 1 << 3;
    /// A thread has the exclusive latch, or has it as soon as those with shared ones are gone.
    pub(crate) const EXCLUSIVE: u64 = 1 << 4;
    /// Threads may sleep until this word changes.
    pub(crate) const SLEEPERS: u64 = 1 << 5;
    /// Threads may sleep until this frame, or any other, is not pinned, or not in use by the pool.
    pub(crate) const WANTED: u64 = 1 << 6;
    /// It is on a stack of free frames.
    pub(crate) const FREE: u64 = 1 << 7;
    /// It is beyond the pool's capacity.
    pub(crate) const PARKED: u64 = 1 << 8;
    /// Its page was discarded, and nobody has taken the frame yet.
    pub(crate) const DISCARDED: u64 = 1 << 9;
    /// One thread is about to discard its page. Nobody else takes the page away meanwhile.
    pub(crate) const DISCARDING: u64 = 1 << 10;
    /// The pool itself uses the page, and will end that by itself. One thread has the bit, and only where the frame
    /// has a page.
    pub(crate) const OWN_USE: u64 = Self::WRITING | Self::DISCARDING;

    /// One shared latch. Its holder has a pin as well.
    pub(crate) const SHARED: u64 = 1 << 12;
    /// One pin, counted up to [`MOST`](Self::MOST).
    pub(crate) const PIN: u64 = 1 << 36;

    /// One hit, counted up to [`USES`](Self::USES) and then from 0 again. It is in the uppermost bits, so that
    /// what overflows is gone.
    pub(crate) const USE: u64 = 1 << 56;
    /// So many hits are counted in a word before they have to be counted elsewhere.
    pub(crate) const USES: u64 = 1 << 8;

    /// So many guards a page may have. There is room for four times as many pins: threads add one before they know
    /// how many there are, and what they cannot have they take back.
    pub(crate) const MOST: u64 = 1 << 18;

    pub(crate) const fn has(self, bits: u64) -> bool {
        self.0 & bits == bits
    }

    pub(crate) const fn has_any(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    /// The number of pins.
    pub(crate) const fn pins(self) -> u64 {
        (self.0 % Self::USE) / Self::PIN
    }

    /// The number of hits.
    pub(crate) const fn uses(self) -> u64 {
        self.0 / Self::USE
    }

    /// The number of shared latches.
    pub(crate) const fn shared(self) -> u64 {
        (self.0 % Self::PIN) / Self::SHARED
    }

    /// Whether it is beyond the pool's capacity.
    pub(crate) const fn is_parked(self) -> bool {
        self.has(Self::PARKED)
    }

    /// Whether its page, or the one that is being read, is pinned.
    pub(crate) const fn is_pinned(self) -> bool {
        self.has_any(Self::VALID | Self::LOADING) && self.pins() > 0
    }

    /// Whether it is in the hands of one thread.
    pub(crate) const fn is_held(self) -> bool {
        let others = Self::VALID | Self::LOADING | Self::FREE | Self::PARKED | Self::DISCARDED;
        !self.has_any(others)
    }

    /// Whether its page can be given up at once.
    pub(crate) const fn is_evictable(self) -> bool {
        let busy = Self::LOADING | Self::DIRTY | Self::OWN_USE | Self::EXCLUSIVE;
        self.has(Self::VALID) && !self.has_any(busy) && self.pins() == 0
    }

    /// Whether it has a page that the pool may begin to use itself: to write it, or to discard it.
    pub(crate) const fn is_open_to_own_use(self) -> bool {
        self.has(Self::VALID) && !self.has_any(Self::OWN_USE)
    }

    /// Whether the pool uses its page itself.
    pub(crate) const fn is_in_own_use(self) -> bool {
        self.has_any(Self::OWN_USE)
    }
}
