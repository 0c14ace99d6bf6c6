//! Real programs under QEMU. Needs qemu-user, a C and a C++ compiler, and xz.

mod allocations;
mod chains;
mod counts;
mod ends;
mod locks;
mod mappings;
mod programs;
mod refusals;
mod support;
mod traces;
