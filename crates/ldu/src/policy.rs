//! When updates are logged.

use kilocore_platform::Platform;

/// Decides whether a root's updates are logged or made at once, as they come.
///
/// Any update may be made in either way at any time: a direct one applies the log first. So what a
/// policy says is advice and may be out of date; it decides how fast the root is and not whether
/// it is right.
pub trait Policy<P: Platform>: Send + Sync + 'static {
    /// That of a new root.
    fn new() -> Self;

    /// Whether an update is to be logged.
    fn logs(&self) -> bool;

    /// The root is read.
    fn reading(&self);

    /// The log was applied, and so many updates with it. Called under the root's lock.
    fn applied(&self, updates: u64);

    /// An update was made at once. Called under the root's lock.
    fn updated(&self);
}

/// Updates are logged, always.
#[derive(Debug, Clone, Copy, Default)]
pub struct Always;

impl<P: Platform> Policy<P> for Always {
    fn new() -> Self {
        Self
    }
    #[inline(always)]
    fn logs(&self) -> bool {
        true
    }
    #[inline(always)]
    fn reading(&self) {}
    #[inline(always)]
    fn applied(&self, _updates: u64) {}
    #[inline(always)]
    fn updated(&self) {}
}
