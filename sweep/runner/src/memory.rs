//! How much memory processes take, and how many fit.

use std::collections::HashMap;

/// The memory of processes that run, and of those before them.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The bytes that all may take together.
    most: u64,
    /// The most bytes that one of each kind took.
    seen: HashMap<String, u64>,
    /// The kinds of those that run.
    running: Vec<String>,
}

impl Memory {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, seen: HashMap::new(), running: Vec::new() }
    }

    /// Whether another one of this kind fits beside those that run, as far as is known. One always does alone.
    pub(crate) fn fits(&self, kind: &str) -> bool {
        let of = |kind: &str| self.seen.get(kind).copied().unwrap_or(0);
        let taken: u64 = self.running.iter().map(|kind| of(kind)).fold(0, u64::saturating_add);
        self.running.is_empty() || taken.saturating_add(of(kind)) <= self.most
    }

    pub(crate) fn begin(&mut self, kind: &str) {
        self.running.push(kind.to_owned());
    }

    /// One has ended, and took so many bytes at most.
    pub(crate) fn end(&mut self, kind: &str, bytes: u64) {
        if let Some(at) = self.running.iter().position(|running| running == kind) {
            self.running.swap_remove(at);
        }
        let seen = self.seen.entry(kind.to_owned()).or_default();
        *seen = (*seen).max(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn as_many_run_as_fit_and_one_always_does() {
        let mut memory = Memory::new(100);
        // Nothing is known of it.
        assert!(memory.fits("a"));
        memory.begin("a");
        assert!(memory.fits("a"));
        memory.begin("a");
        memory.end("a", 60);
        assert!(!memory.fits("a"), "the other one takes 60 as well");
        assert!(memory.fits("b"));
        memory.end("a", 40);
        assert!(memory.fits("a"));
        memory.begin("b");
        assert!(memory.fits("a"));
        memory.end("b", 200);
        memory.begin("a");
        assert!(!memory.fits("b"));
        memory.end("a", 1);
        assert!(memory.fits("b"), "alone");
    }
}
