//! What is called at each load and store.
//!
//! The value of a plain load or store is that of the moment at which QEMU executes it, which is before the plugin is
//! called, and up to the bound on disorder away from its simulated moment. Where that matters, because other cores
//! want the same line, the instruction waits for its turn *before* it is executed: always if it is atomic, and if it
//! is a plain store, as long as its lines were others' lately ([`Site`]).

use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use kilocore_emulation_orders::UseKind;
use kilocore_platform::Cycles;
use kilocore_qemu_plugin::access::{self, Access};
use kilocore_sim::{Guest, GuestAccess};

use crate::blocks::Block;
use crate::counts::{MISSES, TRANSFERS};
use crate::guest::Thread;
use crate::moves::Used;
use crate::site::Site;
use crate::{calls, clock, conditions, guest, moves, repeats, samples, spinning, stops};

/// The word that the thread that runs has said it waits for, or 0.
static WAITS_FOR: AtomicU64 = AtomicU64::new(0);
/// No core waits longer for a line: if it took longer, the thread had lost its core meanwhile.
const MOST_WAIT: Cycles = Cycles(100_000);

/// The site that was registered with a callback.
#[inline(always)]
fn site<'a>(data: *mut c_void) -> &'a Site {
    // SAFETY: `translate` registers all callbacks of this file with a leaked site.
    unsafe { &*data.cast::<Site>() }
}

/// A load or a store has been executed.
pub(crate) extern "C" fn referred(vcpu: c_uint, info: u32, address: u64, data: *mut c_void) {
    let Some(lines) = stops::lines(vcpu, || stops::after(site(data))) else { return };
    let access = access::kind(info);
    if lines.allows(address, access.stores()) {
        if access.stores() {
            repeats::stored();
        } else if repeats::loaded(address, site(data)) {
            spinning::sleep(vcpu, address, site(data));
        }
        if moves::is_looked_at(address) {
            hit(kind_of(access), address, access::bytes(info), site(data));
        }
    } else {
        missed(access, address, access::bytes(info), site(data));
    }
    if clock::is_over() && guest::runs(vcpu) {
        samples::bound(site(data).address());
        stops::has_waited(|| stops::after(site(data)));
    }
}

/// A thread has read the word that it waits for.
///
/// If the line had to come when it looked at the word before, it has the value of the moment at which QEMU executed that
/// load, and the word may have been written before the line came. So it has to look again before it may sleep.
pub(crate) extern "C" fn waits_for(vcpu: c_uint, info: u32, address: u64, data: *mut c_void) {
    let Some(lines) = stops::lines(vcpu, || stops::after(site(data))) else { return };
    let Some(thread) = guest::this_thread() else { return };
    let has_come = thread.fetched.replace(0) == address;
    if lines.allows(address, false) {
        WAITS_FOR.store(if has_come { 0 } else { address }, Ordering::Relaxed);
    } else {
        // It was written since the thread looked at it, so it has to look again.
        WAITS_FOR.store(0, Ordering::Relaxed);
        missed(access::kind(info), address, access::bytes(info), site(data));
    }
}

/// The same thread reads how many turns it waits at most, right after that.
pub(crate) extern "C" fn may_wait(vcpu: c_uint, info: u32, address: u64, data: *mut c_void) {
    referred(vcpu, info, address, data);
    let Some(lines) = guest::lines(vcpu) else { return };
    let word = WAITS_FOR.swap(0, Ordering::Relaxed);
    if word != 0 && lines.allows(word, false) {
        spinning::wait(word, address, site(data));
    }
}

fn kind_of(access: Access) -> UseKind {
    match (access.loads(), access.stores()) {
        (true, true) => UseKind::Update,
        (false, true) => UseKind::Store,
        _ => UseKind::Load,
    }
}

/// The core has a line that came to it a moment ago.
#[cold]
fn hit(kind: UseKind, address: u64, bytes: u64, site: &Site) {
    if let Some(thread) = guest::this_thread() {
        moves::hit(used(&thread, kind, address, bytes, site));
    }
}

fn used(thread: &Thread, kind: UseKind, address: u64, bytes: u64, site: &Site) -> Used {
    Used { thread: thread.guest.task().0, code: site.address(), address, bytes, kind }
}

#[inline(never)]
fn missed(access: Access, address: u64, bytes: u64, site: &Site) {
    let Some(thread) = guest::this_thread() else { return };
    MISSES.more();
    let kind = kind_of(access);
    if kind == UseKind::Load {
        repeats::loaded_anew(address);
    } else {
        repeats::stored();
    }
    if refer(&thread, site, address, bytes, kind) {
        site.heat();
    }
    stops::has_waited(|| stops::after(site));
    if kind == UseKind::Load {
        thread.fetched.set(address);
    }
}

/// The thread that runs refers to memory. Returns whether another core was concerned.
fn refer(thread: &Thread, site: &Site, address: u64, bytes: u64, kind: UseKind) -> bool {
    let access = match kind {
        UseKind::Load => GuestAccess::Load,
        UseKind::Store => GuestAccess::Store,
        UseKind::Update => GuestAccess::Update,
    };
    let before = clock::now();
    let moved = guest::simulate(thread, |guest| {
        calls::is_at(guest, site);
        guest.refer(address, access)
    });
    if thread.guest.is_let_go() {
        return false;
    }
    let waited = Cycles(clock::now().0.saturating_sub(before.0).min(MOST_WAIT.0));
    site.has_waited(waited);
    if moved {
        TRANSFERS.more();
        moves::moved(used(thread, kind, address, bytes, site), waited);
    } else if moves::is_looked_at(address) {
        moves::hit(used(thread, kind, address, bytes, site));
    }
    moved
}

/// A plain store is about to be executed.
pub(crate) extern "C" fn before_store(vcpu: c_uint, data: *mut c_void) {
    if stops::runs(vcpu, || stops::before(site(data))) && site(data).waits() {
        samples::take_if_due(site(data).address());
        guest::let_others_go_on();
        stops::has_waited(|| stops::before(site(data)));
    }
}

/// An atomic instruction is about to be executed.
pub(crate) extern "C" fn before_atomic(vcpu: c_uint, data: *mut c_void) {
    if stops::runs(vcpu, || stops::before(site(data))) {
        samples::take_if_due(site(data).address());
        if let Some(thread) = guest::this_thread() {
            guest::simulate(&thread, Guest::begin_update);
        }
        stops::has_waited(|| stops::before(site(data)));
    }
}

/// An atomic instruction has been executed.
pub(crate) extern "C" fn updated(vcpu: c_uint, info: u32, address: u64, data: *mut c_void) {
    if !stops::runs(vcpu, || stops::after(site(data))) {
        return;
    }
    let Some(thread) = guest::this_thread() else { return };
    repeats::stored();
    if conditions::matter() {
        thread.updates.add(address);
    }
    refer(&thread, site(data), address, access::bytes(info), UseKind::Update);
    stops::has_waited(|| stops::after(site(data)));
}

/// A block begins from which a loop may begin anew: one without loads and stores would let nobody go on otherwise.
pub(crate) extern "C" fn block_begins(vcpu: c_uint, data: *mut c_void) {
    // SAFETY: `translate` registers this with a leaked block.
    let block = unsafe { &*data.cast::<Block>() };
    if stops::begins(vcpu, || block.places()) && clock::is_over() {
        samples::bound(block.address());
        stops::has_waited(|| block.places());
    }
}

/// A block begins, and its code does not add to the clock.
pub(crate) extern "C" fn counted_block_begins(vcpu: c_uint, data: *mut c_void) {
    // SAFETY: `translate` registers this with a leaked block.
    unsafe { &*data.cast::<Block>() }.begins();
    block_begins(vcpu, data);
}

/// A call has stored where it returns to. One to an address in memory has loaded that address before.
pub(crate) extern "C" fn called(vcpu: c_uint, info: u32, address: u64, data: *mut c_void) {
    referred(vcpu, info, address, data);
    if access::kind(info).stores() && guest::runs(vcpu) {
        calls::call(address, site(data).address());
    }
}

/// A function has loaded where it returns to.
pub(crate) extern "C" fn returned(vcpu: c_uint, info: u32, address: u64, data: *mut c_void) {
    referred(vcpu, info, address, data);
    if guest::runs(vcpu) {
        calls::end(address);
    }
}

/// The system is about to be called.
pub(crate) extern "C" fn before_system(vcpu: c_uint, data: *mut c_void) {
    if guest::runs(vcpu) {
        calls::calls_system(site(data).address());
    }
}
