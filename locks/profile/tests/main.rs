//! Profiles that were kept, files that are damaged, and where the threads' time went.

mod kept;
mod robustness;
mod thread_account;
mod times;
