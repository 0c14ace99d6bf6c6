//! What is called while locks are traced: all that is called otherwise, and a little more.
//!
//! Instructions that may take a lock or give it back are called about before and after (`gate.rs`). All
//! other accesses cost one more comparison, as long as their thread holds nothing.
//!
//! # Decisions
//! `kilocore_reference_recorder::trace_locks` gives the words that a program uses as locks, in any
//! binary: static, of Go or Rust, or with locks of its own: how often each was taken and by how
//! many threads, how often it changed hands, how many instructions it was held, and which lines of
//! data moved with it.
//!
//! * **A lock is a word that a thread takes by an atomic update and gives back.** Taking it sets
//!   bits that are not set in a free word. Giving it back clears them, by an atomic update or by a
//!   plain store. A free word is taken to be 0 at first; which bits are a holder's is learned
//!   whenever somebody takes a word that is 0. So locks that keep bits for waiters in a free word,
//!   as Go's do, are seen as well.
//! * **What is no lock.** A holder that changes its word without giving it back has struck a
//!   counter. A word that does so often is left out. A count of references that only one thread at
//!   a time raises and lowers still looks like a lock; so does a flag that is set and cleared by
//!   `xchg`. Ticket locks are not seen, because another word gives them back. Neither are locks
//!   whose free value is not 0, queue locks in which each waiter spins on a word of its own, and
//!   read-write locks with several readers at a time.
//! * **One thread at a time is at a lock.** The interface of QEMU 7.2 gives no values. The plugin
//!   reads the word after the instruction, and what it was before is what it was after the last
//!   one. So nobody may change it between the instruction and the reading: atomic updates, and
//!   stores of threads that hold something, go through a gate (`gate.rs`). Instructions are told
//!   apart by their bytes when they are translated. System calls pass the gate, too, so that no
//!   word is unmapped while it is read. Nobody waits there for ever, since QEMU may have to stop
//!   all threads; a wait that is given up loses one update.
//! * **A line moves if another holder had it.** For each lock the plugin remembers which threads
//!   have which line: the last writer, and those that have read it since. A holder that uses a line
//!   which it has not, or writes one that others have, makes it move. Only what is used under the
//!   lock counts. So a lock over *k* lines of data moves *k* lines at each handover, and its own
//!   line besides, which is not counted. A line that is used under two locks at a time counts for
//!   both, but the word of a lock inside another one counts for neither.
//! * **What comes in turn is told from where values come** (`flow.rs`, `values.rs`, `chain.rs`). A
//!   handover costs the longest chain of lines that wait for one another, and not all lines. QEMU
//!   7.2 gives no registers, but each instruction says which registers it reads and writes. So
//!   instructions are decoded when a block is translated (`iced-x86`), and while a thread holds
//!   something, each register and each stored word has the line on which its value depends. Each
//!   line of a hold has the line that its address came from, and the clock. Only when the hold is
//!   over is it known which lines moved, and then the longest chain over these is found. A register
//!   has one line only: that with the longest chain, as if all moved. Two would be right more
//!   often, and a set always, but a chain that forks and joins again is rare under a lock.
//! * **Nothing is called for registers alone.** What instructions without memory do is done at the
//!   next one that uses memory, and costs a few operations on sets of bits. Flags that only
//!   branches look at are left out.
//! * **Everything is bounded:** 16,384 words, 1,024 lines of each, 64 lines of a hold and 8 holds
//!   of a thread, 128 stored words. The figures say how much was left out. Threads are told apart
//!   modulo 64.
//! * **Decoded blocks stay.** Translated code refers to them, and QEMU does not say when it has
//!   thrown that away. If it translates a block anew, what was decoded is used again.
//! * **Callers are those of calls that were seen.** Without registers no stack can be walked, so
//!   calls and returns are followed. They tell which function of the program took a mutex of the C
//!   library's.
//! * **Instructions are exact.** Each callback knows how many instructions of its block come after
//!   it.
//! * **It costs nothing when it is off.** The callbacks are other ones. When it is on, an access of
//!   a thread that holds nothing costs one comparison more.
//! * **The summary comes at the end**, when the program exits or executes another one. A program
//!   that a signal ends tells nothing.

use std::ffi::{c_uint, c_void};

use kilocore_qemu_plugin::api::{self, Instruction, LOAD, NO_REGISTERS, STORE};
use kilocore_qemu_plugin::instruction::{Kind, kind};
use kilocore_qemu_plugin::{access, instruction_bytes};

use crate::flow::{self, Block, Site};
use crate::thread::Thread;
use crate::values::MemoryRange;
use crate::words::{self, By};
use crate::{count, gate, vcpus};

/// Registers what is called for a block.
///
/// # Safety
/// QEMU translates the block.
pub(crate) unsafe fn register(block: *mut api::Block) {
    // SAFETY: QEMU translates the block, and its instructions are asked for meanwhile. What is registered
    // is called as it is declared, with what it expects.
    unsafe {
        let count = api::qemu_plugin_tb_n_insns(block);
        let instructions: Vec<*mut Instruction> =
            (0..count).map(|index| api::qemu_plugin_tb_get_insn(block, index)).collect();
        let code: Vec<(u64, Box<[u8]>)> =
            instructions.iter().map(|instruction| code(*instruction)).collect();
        let decoded = flow::block(&code);
        let data = core::ptr::from_ref(decoded).cast_mut().cast();
        api::qemu_plugin_register_vcpu_tb_exec_cb(block, begin, NO_REGISTERS, data);
        for ((instruction, (_, bytes)), site) in
            instructions.into_iter().zip(&code).zip(&decoded.sites)
        {
            register_instruction(instruction, bytes, site);
        }
    }
}

/// The address and the bytes of an instruction, as far as they are known.
///
/// # Safety
/// As [`register`].
unsafe fn code(instruction: *const Instruction) -> (u64, Box<[u8]>) {
    let mut bytes = [0; 16];
    // SAFETY: as the caller promises.
    let (address, length) = unsafe {
        (api::qemu_plugin_insn_vaddr(instruction), instruction_bytes(instruction, &mut bytes))
    };
    (address, bytes[..length].into())
}

/// # Safety
/// As [`register`].
unsafe fn register_instruction(instruction: *mut Instruction, bytes: &[u8], site: &'static Site) {
    let (before, after): (Option<api::OnBlock>, api::OnAccess) = match kind(bytes) {
        Kind::Atomic => (Some(before_update), updated),
        Kind::Store => (Some(before_store), stored),
        Kind::Call => (Some(call), other),
        Kind::Return => (Some(return_from), other),
        Kind::Other => (None, other),
    };
    let data = core::ptr::from_ref(site).cast_mut().cast();
    // SAFETY: as the caller promises.
    unsafe {
        if let Some(before) = before {
            api::qemu_plugin_register_vcpu_insn_exec_cb(instruction, before, NO_REGISTERS, data);
        }
        let both = LOAD | STORE;
        api::qemu_plugin_register_vcpu_mem_cb(instruction, after, NO_REGISTERS, both, data);
    }
}

/// The instruction that a callback was registered with.
#[inline(always)]
fn site(data: *mut c_void) -> &'static Site {
    // SAFETY: the callbacks of instructions are registered with sites, which are never freed.
    unsafe { &*data.cast::<Site>().cast_const() }
}

/// Is called when a block begins.
extern "C" fn begin(vcpu: c_uint, data: *mut c_void) {
    let Some(thread) = vcpus::running(vcpu) else { return };
    // SAFETY: this callback is registered with blocks, which are never freed.
    let block = unsafe { &*data.cast::<Block>().cast_const() };
    // The last block was left in the middle, by a fault.
    leave_gate(vcpu, thread);
    thread.holds.enter(block);
    thread.advance(block.sites.len() as i64);
}

/// An instruction loads or stores that is no concern of a lock.
extern "C" fn other(vcpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    count::count(vcpu, access, address, data);
    if let Some(thread) = vcpus::recorded(vcpu)
        && !thread.holds.is_empty()
    {
        touch(thread, access, address, site(data));
    }
}

fn touch(thread: &mut Thread, access: u32, address: u64, site: &Site) {
    let kind = access::kind(access);
    let how = [kind.loads(), kind.stores()];
    thread.holds.touch(site, MemoryRange { address, bytes: access::bytes(access) }, how);
}

fn is_store(access: u32) -> bool {
    access::kind(access).stores()
}

/// A call comes, which returns to what is behind it.
extern "C" fn call(vcpu: c_uint, data: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu) {
        thread.calls.call(site(data).next);
    }
}

/// A function is about to return.
extern "C" fn return_from(vcpu: c_uint, _: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu) {
        thread.calls.end();
    }
}

/// An atomic update comes.
extern "C" fn before_update(vcpu: c_uint, _: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu) {
        thread.holds.in_gate = gate::enter(vcpu);
    }
}

/// A store comes, maybe to a lock that its thread holds.
extern "C" fn before_store(vcpu: c_uint, _: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu)
        && !thread.holds.is_empty()
    {
        thread.holds.in_gate = gate::enter(vcpu);
    }
}

/// An atomic update has been done; or one half of it, which a program of one thread does in two.
extern "C" fn updated(vcpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    count::count(vcpu, access, address, data);
    let Some(thread) = vcpus::recorded(vcpu) else { return };
    if !is_store(access) {
        return;
    }
    let by = by(thread, site(data));
    // Without the gate, the word may be gone.
    let is_lock = thread.holds.in_gate
        && words::updated(address, access::bytes(access), by, &mut thread.holds);
    leave_gate(vcpu, thread);
    if thread.holds.is_empty() {
        return;
    }
    // Nothing is done at the same time as an update in one step.
    thread.holds.fence();
    // The line of a lock inside another one moves with that lock.
    if !is_lock {
        touch(thread, access, address, site(data));
        thread.holds.fence();
    }
}

/// A store has been done, or the load of an update that is not done in one step.
extern "C" fn stored(vcpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    count::count(vcpu, access, address, data);
    let Some(thread) = vcpus::recorded(vcpu) else { return };
    if thread.holds.is_empty() {
        return;
    }
    if is_store(access) {
        let by = by(thread, site(data));
        let gives_back = thread.holds.in_gate
            && thread.holds.has(address)
            && words::stored(address, by, &mut thread.holds);
        leave_gate(vcpu, thread);
        if gives_back {
            return;
        }
    }
    touch(thread, access, address, site(data));
}

#[inline(always)]
fn leave_gate(vcpu: c_uint, thread: &mut Thread) {
    if thread.holds.in_gate {
        thread.holds.in_gate = false;
        gate::leave(vcpu);
    }
}

/// Who does this: the thread, at an instruction.
fn by(thread: &Thread, site: &Site) -> By {
    By {
        thread: thread.number,
        code: site.address,
        callers: thread.calls.innermost(),
        clock: thread.holds.at(site),
    }
}
