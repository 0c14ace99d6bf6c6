//! What the gas says of itself.

/// What the particles say of themselves after the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many particles there are.
    pub particles: usize,
    /// How many of them the cells have counted in the last step.
    pub counted: u32,
    /// Collisions in all steps.
    pub collisions: u32,
    /// How often a particle bounced from the obstacle.
    pub bounces: u32,
    /// How often a particle left the tunnel and came in anew.
    pub entries: u32,
    /// By how much the momentum is off, as a part of that of the flow.
    pub momentum_error: f64,
    /// By how much the energy is off, as a part of it.
    pub energy_error: f64,
}
