//! What a running task asks of memory, given how much of its cache it has.

/// What a running task asks of memory, per instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demand {
    /// Cycles that an instruction takes without misses.
    pub(crate) cpi: f64,
    /// Misses, divided by how many are under way at a time: each of these waits a whole latency.
    pub(crate) waits: f64,
    /// Bytes to and from memory.
    pub(crate) bytes: f64,
    /// Cycles of a miss while the channels are idle.
    pub(crate) latency: f64,
    /// The channel that carries them.
    pub(crate) channel: usize,
}

impl Demand {
    /// Cycles per instruction while a miss queues for so many cycles.
    pub(crate) fn cpi_at(&self, queue: f64) -> f64 {
        self.cpi + self.waits * (self.latency + queue)
    }

    /// Bytes per cycle then, and how that changes with the queue.
    pub(crate) fn traffic_and_slope(&self, queue: f64) -> (f64, f64) {
        let speed = 1.0 / self.cpi_at(queue);
        let traffic = self.bytes * speed;
        (traffic, -traffic * self.waits * speed)
    }
}

impl Demand {
    /// Whether the two differ by at most this part.
    pub(crate) fn is_nearly(&self, other: &Self, part: f64) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= part * b;
        self.channel == other.channel
            && near(self.cpi, other.cpi)
            && near(self.waits, other.waits)
            && near(self.bytes, other.bytes)
            && near(self.latency, other.latency)
    }
}
