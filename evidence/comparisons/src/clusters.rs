//! A sweep of a million points on clusters that are not here, and what of it can be measured here.

pub mod measured;
pub mod overhead;
pub mod simulated;
