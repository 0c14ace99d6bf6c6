//! Numbers that say which one. Each kind is a type of its own, so that a core is never taken for
//! a task, nor a private cache for a core.

/// A number that counts things of one kind, from 0.
pub(crate) trait Id: Copy {
    fn from_index(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $vis:vis $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name($vis u32);

        impl Id for $name {
            #[inline(always)]
            fn from_index(index: usize) -> Self {
                Self(index as u32)
            }

            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A hardware thread of the simulated machine, which runs one task at a time.
    pub(crate) CoreId;
    /// A simulated thread, in the order of spawning.
    pub TaskId;
    /// A private cache, which the hardware threads of one physical core share.
    pub(crate) CacheId;
    /// A group of physical cores close to one another, counted over the machine.
    pub(crate) GroupId;
    /// A last-level cache, counted over the machine.
    pub(crate) DomainId;
    /// A socket of the machine.
    pub(crate) SocketId;
    /// A line of simulated memory, in the order of first touch.
    pub(crate) LineId;
    /// Lines that a frame of a region has while caches hold some of it.
    pub(crate) SlotId;
    /// A list of waiters that look at their line at the same moment.
    pub(crate) ListId;
    /// A stretch of the chain of waits that bounds a run.
    pub(crate) LinkId;
}

impl Id for kilocore_platform::NodeId {
    #[inline(always)]
    fn from_index(index: usize) -> Self {
        Self(index as u32)
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// An address of simulated memory. It may be one of a [`SimRegion`](crate::SimRegion), where the host has nothing, so
/// that nobody ever goes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimAddress(pub(crate) usize);

impl SimAddress {
    /// The address as a number.
    #[must_use]
    pub fn get(self) -> usize {
        self.0
    }
}

/// A set of some of a machine's cores, of which it has 1,024 at most: where a task may run.
pub type CoreSet = kilocore_platform::CpuSet<16>;
