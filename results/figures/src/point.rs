//! What a curve goes through.

/// A number of cores and the throughput on it.
pub trait CurvePoint {
    /// The number of cores.
    fn cores(&self) -> u32;

    /// The throughput, in whatever unit all points of the curve have.
    fn throughput(&self) -> f64;

    /// Where noise lets the true throughput lie: its lower and its upper end. A point without
    /// noise is where it is said to be.
    fn interval(&self) -> (f64, f64) {
        (self.throughput(), self.throughput())
    }
}

impl CurvePoint for (u32, f64) {
    fn cores(&self) -> u32 {
        self.0
    }

    fn throughput(&self) -> f64 {
        self.1
    }
}
