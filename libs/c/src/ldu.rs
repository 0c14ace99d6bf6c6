//! Deferred-update logs for C. The functions are declared and documented in
//! `include/kilocore_ldu.h`.
//!
//! A root is a [`Log`](kilocore_ldu::raw::Log) together with the caller's functions.

mod object;
mod root;

pub use object::{kc_ldu_is_settled, kc_ldu_object_init};
pub use root::{
    KcLdu, KcLduOptions, KcLduReader, KcLduSlots, KcLduStructure, kc_ldu_destroy, kc_ldu_flush,
    kc_ldu_insert, kc_ldu_new, kc_ldu_read_lock, kc_ldu_read_unlock, kc_ldu_release, kc_ldu_remove,
    kc_ldu_slots_destroy, kc_ldu_slots_new, kc_ldu_synchronize,
};
