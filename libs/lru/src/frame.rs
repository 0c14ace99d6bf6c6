//! Frames, by which pages are named, and the kinds of lists that hold them.

/// A frame: the number of a place in memory that holds one page, from 0. What the page is, only the
/// caller knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

/// What page it is, whatever frame it is in: a hash of its file and its place in that, for example. A
/// page has the same hash each time that it comes to memory, and another page mostly has another one.
///
/// Lists that remember pages after they have been reclaimed compare these numbers. They mix the bits
/// themselves, so a number that just counts will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageHash(pub u64);

/// What a page's content belongs to. A system chooses from which of the two it reclaims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A program's own memory, which has to be written to swap space before its frame can be used for
    /// something else.
    Anonymous,
    /// A part of a file.
    File,
}

/// One of the five lists of a page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    /// Anonymous pages that were not used again lately. Reclaim takes from its tail.
    InactiveAnonymous,
    /// Anonymous pages that were.
    ActiveAnonymous,
    /// Pages of files that were not used again lately. Reclaim takes from its tail.
    InactiveFile,
    /// Pages of files that were.
    ActiveFile,
    /// Pages that cannot be reclaimed, such as locked ones. Nobody ever looks for one at its end.
    Unevictable,
}

impl List {
    /// All of them, in the order of their numbers.
    pub const ALL: [List; 5] = [
        List::InactiveAnonymous,
        List::ActiveAnonymous,
        List::InactiveFile,
        List::ActiveFile,
        List::Unevictable,
    ];

    /// Returns the list from which pages of a class are reclaimed.
    #[must_use]
    pub const fn inactive(class: Class) -> Self {
        match class {
            Class::Anonymous => List::InactiveAnonymous,
            Class::File => List::InactiveFile,
        }
    }

    /// Returns the list of the pages of a class that were used again lately.
    #[must_use]
    pub const fn active(class: Class) -> Self {
        match class {
            Class::Anonymous => List::ActiveAnonymous,
            Class::File => List::ActiveFile,
        }
    }
}
