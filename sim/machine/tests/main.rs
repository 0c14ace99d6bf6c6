//! Machine files: those that come with Kilocore, and those that are wrong.

mod builtin;
mod errors;
mod robust;
