//! All tests of the locks: the checkers, the planted errors, and native runs.

mod broken;
mod broken_large;
mod broken_requester;
mod broken_rwsem;
mod broken_side_queues;
mod broken_waiting;
mod common;
mod conditions;
mod free_blocks;
mod loom;
mod moderated_loom;
mod moderated_shuttle;
mod moderated_stamp;
mod native;
mod planted;
mod read_write;
mod shuttle;
mod side_queues;
mod sync;
mod weakened;
