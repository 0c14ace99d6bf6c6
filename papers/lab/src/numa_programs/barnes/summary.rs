//! What the bodies say of themselves.

/// What the bodies say of themselves after the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many bodies there are.
    pub bodies: usize,
    /// How many bodies and cells acted on a body in the last step, on average.
    pub interactions: f64,
    /// By how much forces are off, as a part of them, in the mean square.
    pub force_error: f64,
    /// By how much a force is off at most, as a part of the mean force.
    pub worst_force_error: f64,
    /// By how much the energy has changed, as a part of it.
    pub energy_drift: f64,
    /// The momentum, as a part of what it would be if all bodies went one way.
    pub momentum: f64,
    /// A digest of positions and velocities. It does not depend on the number of threads.
    pub digest: u64,
}
