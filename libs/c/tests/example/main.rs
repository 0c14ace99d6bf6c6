//! The examples in C compile without a warning and run.

mod ldu;
mod locks;
mod pages;
