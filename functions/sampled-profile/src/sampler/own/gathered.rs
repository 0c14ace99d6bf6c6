//! What the sampler brings home.

use crate::sampler::{Hertz, KernelSamples, Scope};

#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) samples: u64,
    pub(crate) lost: u64,
    pub(crate) frequency: Hertz,
    pub(crate) kernel: KernelSamples,
    pub(crate) scope: Scope,
    pub(crate) warnings: Vec<String>,
}
