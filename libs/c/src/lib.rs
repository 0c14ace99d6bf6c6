//! Locks, deferred-update logs and the page pool for C. The headers in `include` declare and document
//! the functions. This crate contains no algorithm of its own.

#![warn(missing_docs)]

pub mod ldu;
pub mod locks;
pub mod pages;
