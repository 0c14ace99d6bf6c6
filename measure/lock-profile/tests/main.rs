//! Profiles that were kept, and files that are damaged.

mod kept;
mod robustness;
