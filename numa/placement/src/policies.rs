//! The policies, a file each.

mod adjustable;
mod balanced;
mod carrefour;
mod delay;
mod experience;
mod linux;

pub use adjustable::{Adjustable, AdjustableOptions, Audience, CopyCost};
pub use balanced::{Balanced, BalancedOptions};
pub use carrefour::{Carrefour, CarrefourOptions};
pub use delay::{FirstReference, FixedDelay, Never, WithUpdates};
pub use experience::Weights;
pub use linux::LinuxBalancing;
