//! What is called at each load and store: the hottest path.

use std::ffi::{c_uint, c_void};

use kilocore_qemu_plugin::access;

use crate::counts::Counts;
use crate::thread::Thread;
use crate::vcpus;

/// No access is wider. Accesses that begin further from the end of their page do not leave it.
const WIDEST: u64 = 64;

/// An instruction loads or stores.
pub(crate) extern "C" fn count(vcpu: c_uint, access: u32, address: u64, _: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu) {
        count_for(thread, access, address);
    }
}

/// The same for a thread that was found.
#[inline(always)]
pub(crate) fn count_for(thread: &mut Thread, access: u32, address: u64) {
    thread.count(address >> 12, Counts::of(access));
    if address & 0xfff > 0x1000 - WIDEST {
        next_page(thread, access, address);
    }
}

/// Counts an access for the next page as well, if it goes on there.
#[cold]
#[inline(never)]
fn next_page(thread: &mut Thread, access: u32, address: u64) {
    let last = address.wrapping_add(access::bytes(access) - 1) >> 12;
    if last != address >> 12 {
        thread.count(last, Counts::of(access));
    }
}
