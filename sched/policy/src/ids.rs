//! Numbers of things that a driver names.

/// A task: a thread, as the scheduler sees it. A driver does not use the number of a task again while
/// a policy may remember it.
///
/// The simulator (`kilocore_sim`) numbers its threads by a type of its own. This crate neither needs
/// a simulator nor the standard library, as policies also run in drivers for Linux; so the driver for
/// simulations translates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// A program: the tasks that share an address space, or whatever else the driver steers as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramId(pub u32);

/// A last-level cache, counted over the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheId(pub u32);
