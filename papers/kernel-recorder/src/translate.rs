//! What is called when QEMU translates a block of instructions, and when these are executed.

use std::ffi::{c_uint, c_void};

use kilocore_kernel_path::{Address, Seen, Touch};
use kilocore_qemu_plugin::api::{self, Block, Instruction, LOAD, NO_REGISTERS, PluginId, STORE};
use kilocore_qemu_plugin::instruction::{Kind, kind};
use kilocore_qemu_plugin::{access, read};

use crate::locks::{Role, role};
use crate::marks::{Mark, mark};
use crate::recorder::{Name, RECORDER, is_active, state};
use crate::symbols::Symbol;

/// QEMU translates a block.
pub(crate) extern "C" fn block(_: PluginId, block: *mut Block) {
    let Some(recorder) = RECORDER.get() else { return };
    // SAFETY: QEMU gives a block that it is translating, and its instructions are asked for while it
    // does. What is registered is called as it is declared.
    unsafe {
        let instructions = api::qemu_plugin_tb_n_insns(block);
        let (function, is_first) = recorder.symbols.at(api::qemu_plugin_tb_vaddr(block));
        let begun = Begun { instructions: instructions as u32, function, is_first };
        api::qemu_plugin_register_vcpu_tb_exec_cb(block, begin, NO_REGISTERS, begun.pack());
        for index in 0..instructions {
            instruction(api::qemu_plugin_tb_get_insn(block, index));
        }
    }
}

/// # Safety
/// QEMU is translating the instruction.
unsafe fn instruction(instruction: *mut Instruction) {
    let Some(recorder) = RECORDER.get() else { return };
    // SAFETY: as the caller promises; what is registered is called as it is declared.
    unsafe {
        let address = api::qemu_plugin_insn_vaddr(instruction);
        let (function, is_first) = recorder.symbols.at(address);
        let mut bytes = [0_u8; 15];
        let length = api::qemu_plugin_insn_size(instruction).min(bytes.len());
        let here = api::qemu_plugin_insn_haddr(instruction).addr() as u64;
        let bytes = read(here, &mut bytes[..length]).map_or(&[][..], |()| &bytes[..length]);
        if let Some(mark) = mark(bytes) {
            let on_mark = match mark {
                Mark::Begin => on_begin,
                Mark::End => on_end,
            };
            api::qemu_plugin_register_vcpu_insn_exec_cb(
                instruction,
                on_mark,
                NO_REGISTERS,
                core::ptr::null_mut(),
            );
            return;
        }
        let role = role(recorder.symbols.name(function));
        if let Some(Role::PutsIn | Role::TakesOut) = role
            && is_first
        {
            let data = core::ptr::without_provenance_mut(function.0 as usize);
            api::qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_tree, NO_REGISTERS, data);
        }
        let changes_a_lock = match role {
            Some(Role::Acquires(..)) => kind(bytes) == Kind::Atomic,
            Some(Role::Releases) => matches!(kind(bytes), Kind::Atomic | Kind::Store),
            _ => false,
        };
        let on_access = if changes_a_lock { on_lock } else { on_touch };
        let data = Accessed { function, is_atomic: kind(bytes) == Kind::Atomic }.pack();
        api::qemu_plugin_register_vcpu_mem_cb(
            instruction,
            on_access,
            NO_REGISTERS,
            LOAD | STORE,
            data,
        );
    }
}

/// What is known of a block when it begins.
struct Begun {
    instructions: u32,
    function: Symbol,
    /// Whether the function begins with it.
    is_first: bool,
}

impl Begun {
    fn pack(&self) -> *mut c_void {
        let word = (self.instructions as usize) << 33 | usize::from(self.is_first) << 32;
        core::ptr::without_provenance_mut(word | self.function.0 as usize)
    }

    fn unpack(data: *mut c_void) -> Self {
        let word = data.addr();
        Self {
            instructions: (word >> 33) as u32,
            function: Symbol(word as u32),
            is_first: word >> 32 & 1 != 0,
        }
    }
}

/// What is known of an instruction that accesses memory.
struct Accessed {
    function: Symbol,
    is_atomic: bool,
}

impl Accessed {
    fn pack(&self) -> *mut c_void {
        let word = usize::from(self.is_atomic) << 32 | self.function.0 as usize;
        core::ptr::without_provenance_mut(word)
    }

    fn unpack(data: *mut c_void) -> Self {
        Self { is_atomic: data.addr() >> 32 != 0, function: Symbol(data.addr() as u32) }
    }
}

extern "C" fn on_begin(processor: c_uint, _: *mut c_void) {
    state().begin(processor);
}

extern "C" fn on_end(processor: c_uint, _: *mut c_void) {
    state().end(processor);
}

extern "C" fn begin(processor: c_uint, data: *mut c_void) {
    if !is_active(processor) {
        return;
    }
    let Begun { instructions, function, is_first } = Begun::unpack(data);
    let mut state = state();
    state.execute(instructions);
    let is_lock = RECORDER.get().is_some_and(|all| role(all.symbols.name(function)).is_some());
    if is_lock && is_first {
        state.caller = state.last;
    }
    state.last = function;
}

/// A function that changes trees begins.
extern "C" fn on_tree(processor: c_uint, data: *mut c_void) {
    if !is_active(processor) {
        return;
    }
    let function = Symbol(data.addr() as u32);
    let Some(recorder) = RECORDER.get() else { return };
    let seen = match role(recorder.symbols.name(function)) {
        Some(Role::PutsIn) => Seen::PutIn,
        _ => Seen::TakeOut,
    };
    state().see(seen, Name::In(function));
}

/// Where an access is in the machine's memory, if it is not a device's.
fn physical(access: u32, address: u64) -> Option<Address> {
    // SAFETY: this is called in the callback of the access.
    unsafe {
        let place = api::qemu_plugin_get_hwaddr(access, address);
        let is_memory = !place.is_null() && !api::qemu_plugin_hwaddr_is_io(place);
        is_memory.then(|| Address(api::qemu_plugin_hwaddr_phys_addr(place)))
    }
}

/// A variable's name, or that of the function.
fn name(address: u64, function: Symbol) -> Name {
    let variable = RECORDER.get().map(|recorder| recorder.symbols.at(address).0);
    match variable {
        Some(symbol) if symbol != Symbol::PROGRAM => Name::Variable(symbol),
        _ => Name::In(function),
    }
}

extern "C" fn on_touch(processor: c_uint, access: u32, address: u64, data: *mut c_void) {
    if !is_active(processor) {
        return;
    }
    let Some(at) = physical(access, address) else { return };
    let Accessed { function, is_atomic } = Accessed::unpack(data);
    let kind = access::kind(access);
    let touch = match (kind.stores(), is_atomic) {
        (true, true) => Touch::Update,
        (true, false) => Touch::Store,
        (false, _) => Touch::Load,
    };
    state().see(Seen::Touch(at, touch), name(address, function));
}

extern "C" fn on_lock(processor: c_uint, access: u32, address: u64, data: *mut c_void) {
    if !is_active(processor) || !access::kind(access).stores() {
        return;
    }
    let (Some(at), Some(recorder)) = (physical(access, address), RECORDER.get()) else { return };
    let Accessed { function, .. } = Accessed::unpack(data);
    let mut state = state();
    let name = name(address, state.caller);
    match role(recorder.symbols.name(function)) {
        Some(Role::Acquires(kind, mode)) => state.see(Seen::Acquire(at, kind, mode), name),
        Some(Role::Releases) => state.see(Seen::Release(at), name),
        _ => {}
    }
}
