//! What is called before and after a system call.

use std::ffi::c_uint;

use kilocore_qemu_plugin::api::PluginId;
use kilocore_qemu_plugin::text;
use kilocore_references::record::Record;

use crate::thread::Thread;
use crate::{address_space, area, gate, sites, traced, vcpus};

/// The program goes into the system.
pub(crate) extern "C" fn enter(
    _: PluginId,
    vcpu: c_uint,
    call: i64,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    _: u64,
    _: u64,
) {
    if call == libc::SYS_exit {
        vcpus::end(vcpu);
        return;
    }
    if traced::is_on() && !area::is_over() {
        gate::pass(vcpu);
    }
    vcpus::in_system(vcpu, |thread| {
        thread.enter_system([a, b, c, d, e, f]);
        match call {
            // Somebody else may have the addresses before this call has returned.
            libc::SYS_munmap => thread.change(address_space::unmapped(a, b)),
            libc::SYS_madvise if discards(c) => thread.change(address_space::discarded(a, b)),
            libc::SYS_madvise => sites::advised(thread, a, b, c),
            libc::SYS_execve => replaced(thread, a),
            libc::SYS_execveat => replaced(thread, b),
            _ => {}
        }
    });
}

/// The program comes back.
pub(crate) extern "C" fn leave(_: PluginId, vcpu: c_uint, call: i64, result: i64) {
    vcpus::in_system(vcpu, |thread| {
        // An error is a number just below zero. Addresses may be "negative", too.
        if !(-4095..0).contains(&result) {
            returned(thread, call, result as u64);
        }
        thread.leave_system();
    });
}

/// Whether this advice gives back what is in memory.
fn discards(advice: u64) -> bool {
    [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE].contains(&(advice as i32))
}

fn returned(thread: &mut Thread, call: i64, result: u64) {
    let [a, b, c, d, e, _] = thread.arguments;
    match call {
        libc::SYS_mmap => {
            let callers = sites::callers(&thread.frames);
            thread.change(address_space::mapped((result, b), d, e, callers));
        }
        libc::SYS_mremap => thread.change(address_space::moved((a, b), (result, c))),
        libc::SYS_brk => {
            address_space::heap_ends(result).into_iter().for_each(|record| thread.change(record));
        }
        libc::SYS_fork | libc::SYS_vfork => forked(thread),
        libc::SYS_clone if a & libc::CLONE_THREAD as u64 == 0 => forked(thread),
        _ => {}
    }
}

/// The program asks to be replaced, by the one whose path is at this address.
fn replaced(thread: &mut Thread, path: u64) {
    if traced::is_on() {
        thread.tell_locks();
    }
    thread.write(&Record::Replaced(text(path).unwrap_or_default().into()));
    thread.publish();
}

fn forked(thread: &mut Thread) {
    thread.write(&Record::Forked);
    thread.publish();
}
