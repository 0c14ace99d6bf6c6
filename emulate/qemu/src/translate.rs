//! What is called when QEMU translates a block of instructions.

use std::ffi::c_void;
use std::ptr;

use kilocore_qemu_plugin::api::{self, Block, LOAD, NO_REGISTERS, OnAccess, PluginId, STORE};
use kilocore_qemu_plugin::instruction::{Kind, is_on_stack, jumps_back, kind};
use kilocore_qemu_plugin::instruction_bytes;

use crate::site::Site;
use crate::{accesses, blocks, clock, counter, takes, watched, window};

/// The prefix of an instruction that does not let others come between its load and its store.
const LOCK: u8 = 0xf0;
/// `pause`.
const PAUSE: [u8; 2] = [0xf3, 0x90];
/// `syscall`.
const SYSTEM: [u8; 2] = [0x0f, 0x05];
/// What `kilocore_platform::announce_wait` has before the two instructions that read the word and the number.
const ANNOUNCED: [u8; 8] = [0x0f, 0x1f, 0x84, 0x00, b'k', b'l', b'w', b't'];
/// What is called at these two.
const WAIT: [OnAccess; 2] = [accesses::waits_for, accesses::may_wait];

/// QEMU translates a block.
pub(crate) extern "C" fn block(_: PluginId, block: *mut Block) {
    let Some(takes) = takes::takes() else { return };
    let is_detailed = window::is_detailed();
    // SAFETY: QEMU gives a block that it is translating, and its instructions are asked for while it does. What is
    // registered is called as it is declared, with a site that is never freed.
    unsafe {
        let instructions = api::qemu_plugin_tb_n_insns(block);
        let (mut time, mut may_repeat) = (0, false);
        // Those that belong to a wait that is announced.
        let mut announced = [].iter();
        let all = (0..instructions).map(|index| api::qemu_plugin_tb_get_insn(block, index));
        // They are never freed: QEMU does not say when it has thrown a block away.
        let sites: &[Site] = all
            .clone()
            .enumerate()
            .map(|(index, one)| {
                Site::at(api::qemu_plugin_insn_vaddr(one), instructions - index - 1)
            })
            .collect::<Vec<_>>()
            .leak();
        for (instruction, site) in all.zip(sites) {
            let mut bytes = [0; 16];
            let length = instruction_bytes(instruction, &mut bytes);
            let bytes = &bytes[..length];
            let kind = kind(bytes);
            may_repeat |= jumps_back(bytes);
            time += takes.instruction + if bytes == PAUSE { takes.pause } else { 0 };
            if watched::is_watched(site.address()) {
                let address = ptr::without_provenance_mut(site.address() as usize);
                let called = window::called;
                api::qemu_plugin_register_vcpu_insn_exec_cb(
                    instruction,
                    called,
                    NO_REGISTERS,
                    address,
                );
            }
            if bytes == ANNOUNCED {
                announced = WAIT.iter();
                continue;
            }
            let site: *mut c_void = ptr::from_ref(site).cast_mut().cast();
            if counter::is_read_by(bytes) {
                let before = counter::before_read;
                api::qemu_plugin_register_vcpu_insn_exec_cb(
                    instruction,
                    before,
                    NO_REGISTERS,
                    site,
                );
                continue;
            }
            if !is_detailed {
                continue;
            }
            let callback = if let Some(of_wait) = announced.next() {
                *of_wait
            } else if kind == Kind::Atomic || bytes.first() == Some(&LOCK) {
                let before = accesses::before_atomic;
                api::qemu_plugin_register_vcpu_insn_exec_cb(
                    instruction,
                    before,
                    NO_REGISTERS,
                    site,
                );
                accesses::updated
            } else {
                // What others could want is rarely on a thread's own stack.
                if kind == Kind::Store && !is_on_stack(bytes) {
                    let before = accesses::before_store;
                    api::qemu_plugin_register_vcpu_insn_exec_cb(
                        instruction,
                        before,
                        NO_REGISTERS,
                        site,
                    );
                }
                match kind {
                    Kind::Call => accesses::called,
                    Kind::Return => accesses::returned,
                    _ => accesses::referred,
                }
            };
            if bytes == SYSTEM {
                let before = accesses::before_system;
                api::qemu_plugin_register_vcpu_insn_exec_cb(
                    instruction,
                    before,
                    NO_REGISTERS,
                    site,
                );
            }
            api::qemu_plugin_register_vcpu_mem_cb(
                instruction,
                callback,
                NO_REGISTERS,
                LOAD | STORE,
                site,
            );
        }
        let translated = blocks::translated(api::qemu_plugin_tb_vaddr(block), time, sites);
        let data = ptr::from_ref(translated).cast_mut().cast();
        if let Some(add) = api::add_inline() {
            if may_repeat && (is_detailed || clock::has_due()) {
                let begins = accesses::block_begins;
                api::qemu_plugin_register_vcpu_tb_exec_cb(block, begins, NO_REGISTERS, data);
            }
            add(block, api::ADD, clock::address().cast(), time);
            if is_detailed {
                add(block, api::ADD, translated.executed().cast(), 1);
            }
        } else {
            let begins = accesses::counted_block_begins;
            api::qemu_plugin_register_vcpu_tb_exec_cb(block, begins, NO_REGISTERS, data);
        }
    }
}
