//! Kinds of things that threads wait for.

/// What kind of thing a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitKind {
    /// A lock that one thread holds at a time.
    Mutex,
    /// A lock that readers share.
    ReadWrite,
    /// A lock that is waited for on the processor.
    Spin,
    /// A condition variable, until it is signalled.
    Condition,
    /// A barrier, until other threads arrive.
    Barrier,
    /// A semaphore, until its count is above 0. It may be used as a lock or to hand out work.
    Semaphore,
    /// The end of a thread.
    Join,
    /// Something that is done once.
    Once,
    /// A channel or a queue.
    Channel,
    /// Work, in a runtime's own thread.
    Idle,
    /// The lock of an interpreter, without which none of its threads computes.
    GlobalInterpreterLock,
}

impl WaitKind {
    /// Whether a thread waits for this even though it has work to do.
    pub(super) fn stops_work(self) -> bool {
        !matches!(
            self,
            Self::Idle | Self::Condition | Self::Channel | Self::Barrier | Self::Semaphore
        )
    }
}
