//! Who called: where the innermost functions of a thread return to.

/// The return addresses of a thread's innermost calls, the innermost first: at most [`Callers::MOST`]. There
/// are none if nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Callers(Box<[u64]>);

impl Callers {
    /// More are not kept.
    pub const MOST: usize = 24;

    /// The first of these, which are the innermost.
    #[must_use]
    pub fn new(returns_to: &[u64]) -> Self {
        Self(returns_to[..returns_to.len().min(Self::MOST)].into())
    }

    /// The addresses, the innermost first.
    #[must_use]
    pub fn addresses(&self) -> &[u64] {
        &self.0
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
