//! Whether a core walks through memory, so that its prefetchers run ahead of it.

/// How many walks a core's prefetchers follow at a time.
const STREAMS: usize = 8;

/// The walks of a core.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    /// The line that each walk reached last.
    last: [u64; STREAMS],
    next: usize,
}

impl Streams {
    /// A core misses a line. Returns whether that continues a walk, up or down.
    pub(crate) fn continues(&mut self, line: u64) -> bool {
        let near = |&last: &u64| last.abs_diff(line) == 1;
        match self.last.iter().position(near) {
            Some(at) => {
                self.last[at] = line;
                true
            }
            None => {
                self.last[self.next] = line;
                self.next = (self.next + 1) % STREAMS;
                false
            }
        }
    }
}
