//! Finds call stacks in copies of stack memory.
//!
//! With `--call-graph dwarf`, a sample has the registers of user space and a copy of the top of its
//! stack instead of its callers. The crate `framehop` finds the callers with the unwind tables of
//! the mapped files. Where there is no unwind table, it follows frame pointers.

use std::collections::HashMap;
use std::rc::Rc;

use framehop::Unwinder as _;
use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use kilocore_symbols::{TableBytes, UnwindTables, stack_reader};

use super::files::Files;
use super::place::{Index, Interned, Object};
use super::processes::Processes;
use super::sample::UserState;

/// The processor architecture of the recording, if its stacks can be unwound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Architecture {
    X86,
    Arm,
}

impl Architecture {
    /// Looks up the architecture by the name in the recording or, without one, that of this host.
    fn new(name: Option<&str>) -> Option<Self> {
        match name.unwrap_or(std::env::consts::ARCH) {
            "x86_64" => Some(Self::X86),
            "aarch64" => Some(Self::Arm),
            _ => None,
        }
    }
}

/// The modules of one process at one version of its memory.
enum Modules {
    X86(UnwinderX86_64<TableBytes>),
    Arm(UnwinderAarch64<TableBytes>),
}

/// Finds the callers of a sample by its registers, its copy of the stack and the unwinding tables
/// of objects.
pub(super) struct Unwinder {
    architecture: Option<Architecture>,
    /// The sections of each object; `None` for an object without any.
    sections: HashMap<Index, Option<Rc<UnwindTables>>>,
    /// By process, with the version of its memory.
    modules: HashMap<i32, (u64, Modules)>,
    x86: CacheX86_64,
    arm: CacheAarch64,
}

impl std::fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwinder").field("architecture", &self.architecture).finish_non_exhaustive()
    }
}

impl Unwinder {
    /// The deepest stack, which is the same as perf's own limit.
    const DEEPEST: usize = 127;
    /// How many processes keep their modules cached at a time.
    const PROCESSES: usize = 64;
    /// The end of the addresses that programs use.
    const HIGHEST: u64 = 1 << 56;

    pub(super) fn new(architecture: Option<&str>) -> Self {
        Self {
            architecture: Architecture::new(architecture),
            sections: HashMap::new(),
            modules: HashMap::new(),
            x86: CacheX86_64::new(),
            arm: CacheAarch64::new(),
        }
    }

    /// Returns the addresses of a thread's functions, the innermost first. For each caller it
    /// returns an address inside the call, before the return address. `mask` says which registers
    /// were recorded.
    pub(super) fn unwind(
        &mut self,
        (processes, objects): (&Processes, &Interned<Object>),
        files: &mut Files<'_>,
        process: i32,
        mask: u64,
        state: &UserState<'_>,
    ) -> Vec<u64> {
        let Some(architecture) = self.architecture else { return Vec::new() };
        let version = processes.version(process);
        if self.modules.get(&process).is_none_or(|(known, _)| *known != version) {
            if self.modules.len() >= Self::PROCESSES {
                self.modules.clear();
            }
            let modules = self.modules_of((processes, objects), files, process, architecture);
            self.modules.insert(process, (version, modules));
        }
        let register = |number: u32| {
            let index = (mask & ((1 << number) - 1)).count_ones() as usize;
            (mask >> number & 1 == 1).then(|| state.registers.get(index))?
        };
        let (_, modules) = &self.modules[&process];
        match modules {
            Modules::X86(unwinder) => {
                let (Some(bp), Some(sp), Some(ip)) = (register(6), register(7), register(8)) else {
                    return Vec::new();
                };
                let mut stack = stack_reader(state.stack, sp);
                let registers = UnwindRegsX86_64::new(ip, sp, bp);
                let mut frames = unwinder.iter_frames(ip, registers, &mut self.x86, &mut stack);
                let next = || Some(frames.next().ok()??.address_for_lookup());
                std::iter::from_fn(next).take(Self::DEEPEST).collect()
            }
            Modules::Arm(unwinder) => {
                let numbers = (register(29), register(30), register(31), register(32));
                let (Some(fp), Some(lr), Some(sp), Some(pc)) = numbers else { return Vec::new() };
                let mut stack = stack_reader(state.stack, sp);
                let highest = unwinder.max_known_code_address();
                let mask = match highest {
                    0 => PtrAuthMask::new_no_strip(),
                    _ => PtrAuthMask::from_max_known_address(highest),
                };
                let registers = UnwindRegsAarch64::new_with_ptr_auth_mask(mask, lr, sp, fp);
                let mut frames = unwinder.iter_frames(pc, registers, &mut self.arm, &mut stack);
                let next = || Some(frames.next().ok()??.address_for_lookup());
                std::iter::from_fn(next).take(Self::DEEPEST).collect()
            }
        }
    }

    /// The modules of a process.
    fn modules_of(
        &mut self,
        (processes, objects): (&Processes, &Interned<Object>),
        files: &mut Files<'_>,
        process: i32,
        architecture: Architecture,
    ) -> Modules {
        let mut modules = match architecture {
            Architecture::X86 => Modules::X86(UnwinderX86_64::new()),
            Architecture::Arm => Modules::Arm(UnwinderAarch64::new()),
        };
        for (start, mapping) in processes.mappings(process) {
            let object = objects.get(mapping.object);
            let Some(sections) = self.sections(files, mapping.object, object) else { continue };
            let Ok(file) = files.open(mapping.object, object) else { continue };
            let Some(zero) = file.binary.zero(start..mapping.end, mapping.offset) else { continue };
            if mapping.end > Self::HIGHEST || zero > start {
                continue;
            }
            let module = sections.module(start..mapping.end, zero);
            match &mut modules {
                Modules::X86(unwinder) => unwinder.add_module(module),
                Modules::Arm(unwinder) => unwinder.add_module(module),
            }
        }
        modules
    }

    /// The sections of an object.
    fn sections(
        &mut self,
        files: &mut Files<'_>,
        index: Index,
        object: &Object,
    ) -> Option<Rc<UnwindTables>> {
        let known = self.sections.entry(index).or_insert_with(|| {
            let sections = files.open(index, object).as_ref().ok()?.unwind_sections()?;
            (sections.base < Self::HIGHEST).then(|| Rc::new(UnwindTables::new(sections)))
        });
        known.clone()
    }
}
