//! Who wants to know what each reference has cost.
//!
//! [`Streamed`](crate::Streamed) tells an observer of every burst and of what each of its memories took for
//! it. So costs can be attributed to whatever the observer knows of pages, such as the mapping that they
//! belong to. Nobody is an observer, too: `()`, and then nothing of this is in the compiled code.

use kilocore_platform::Cycles;
use kilocore_references::{PageNumber, ThreadId};

use crate::memory::Memory;
use crate::policy::{At, Burst};
use crate::units::Page;

/// References that are about to be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The thread that refers to the page.
    pub thread: ThreadId,
    /// Where the page is in the program's address space now.
    pub number: PageNumber,
    /// The processor and the page, as the memories know them.
    pub at: At,
    /// How many there are.
    pub burst: Burst,
}

/// Learns of each burst, and of what it has cost.
pub trait Observer {
    /// References come. What they cost follows, once for each memory.
    fn refers(&mut self, reference: &Reference);

    /// A memory has served them. `index` is its place among the memories.
    fn served(&mut self, index: usize, memory: &Memory, cost: Cycles);

    /// A page is gone. Its number may stand for another one from now on.
    fn forgets(&mut self, page: Page);
}

impl Observer for () {
    #[inline(always)]
    fn refers(&mut self, _: &Reference) {}

    #[inline(always)]
    fn served(&mut self, _: usize, _: &Memory, _: Cycles) {}

    #[inline(always)]
    fn forgets(&mut self, _: Page) {}
}
