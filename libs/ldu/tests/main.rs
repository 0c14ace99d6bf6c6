//! What the checkers find, or do not find, in the logs. Freed memory stays in quarantine.

mod common;
mod history;
mod loom;
mod pitfalls;
mod prompt;
mod prompt_full;
mod shuttle;
mod weakened;

use kilocore_checking::quarantine::Quarantine;

#[global_allocator]
static MEMORY: Quarantine = Quarantine;
