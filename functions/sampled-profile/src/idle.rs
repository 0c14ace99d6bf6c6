//! Leaves out the samples of processors that had nothing to do.
//!
//! A recording of all processors (`perf record -a`) also has samples of the kernel's idle task. They
//! are no work of anybody's. What an interrupt does while a processor is idle is work, and stays.

use crate::{Function, FunctionId, Origin, Remark, SampledProfile, Tally};

/// The functions below which the kernel has nothing to do.
const LOOPS: [&str; 5] =
    ["do_idle", "cpu_startup_entry", "cpu_idle", "cpu_idle_loop", "default_idle_call"];

/// The functions in which a processor waits for something to do. They show it in a profile without
/// stacks as well.
const WAITS: [&str; 20] = [
    "default_idle",
    "native_safe_halt",
    "pv_native_safe_halt",
    "acpi_safe_halt",
    "acpi_idle_do_entry",
    "acpi_idle_enter",
    "acpi_processor_ffh_cstate_enter",
    "mwait_idle",
    "mwait_idle_with_hints.constprop.0",
    "intel_idle",
    "intel_idle_irq",
    "intel_idle_ibrs",
    "intel_idle_xstate",
    "poll_idle",
    "arch_cpu_idle",
    "cpu_do_idle",
    "cpuidle_enter",
    "cpuidle_enter_state",
    "cpuidle_poll_time",
    "haltpoll_enter_idle",
];

/// What names of functions that handle an interrupt have in them.
const INTERRUPTS: [&str; 6] = ["interrupt", "irq", "sysvec", "asm_exc_", "_nmi", "softirq"];

/// Leaves them out of a profile, and notes how many there were.
pub(crate) fn leave_out(profile: &mut SampledProfile) {
    let roles: Vec<Role> = profile.functions.iter().map(|(_, function)| role(function)).collect();
    if roles.iter().all(|role| *role == Role::Other) {
        return;
    }
    let is_idle = |stack: &[FunctionId]| {
        let mut inside = stack.iter().map(|function| roles[function.index()]);
        let innermost = inside.next().unwrap_or(Role::Other);
        // From the innermost function outwards, the idle task comes before any interrupt.
        innermost == Role::Waits
            || innermost == Role::Loop
            || innermost != Role::Interrupt
                && inside.find(|role| *role != Role::Other && *role != Role::Waits)
                    == Some(Role::Loop)
    };
    let mut left_out = Tally::default();
    let mut kept = crate::Contexts::default();
    for (id, context) in profile.contexts.iter() {
        if context.own == Tally::default() {
            continue;
        }
        let stack: Vec<FunctionId> = profile.contexts.stack(id).collect();
        if is_idle(&stack) {
            left_out.add(context.own);
        } else {
            kept.sample(&stack, context.own);
        }
    }
    if left_out.samples > 0 {
        profile.contexts = kept;
        profile.remarks.push(Remark::Idle { samples: left_out.samples });
    }
}

/// What a function does for the idle task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Loop,
    Waits,
    Interrupt,
    Other,
}

fn role(function: &Function) -> Role {
    let name = function.name.as_str();
    match function.origin {
        // A program may have functions of these names.
        Origin::User => Role::Other,
        _ if LOOPS.contains(&name) => Role::Loop,
        Origin::Kernel if WAITS.contains(&name) => Role::Waits,
        _ if INTERRUPTS.iter().any(|part| name.contains(part)) => Role::Interrupt,
        Origin::Kernel | Origin::Unknown => Role::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Unit};

    fn left(stacks: &[(&str, Origin)]) -> (u64, Vec<Remark>) {
        let mut profile = SampledProfile::new(Format::Folded, Unit::Samples);
        for (stack, origin) in stacks {
            let function = |name: &str| Function {
                name: name.to_owned(),
                object: String::new(),
                origin: *origin,
            };
            let innermost_first =
                stack.rsplit(';').map(|name| profile.functions.id(&function(name)));
            let stack: Vec<FunctionId> = innermost_first.collect();
            profile.contexts.sample(&stack, Tally::of(1, 1));
        }
        leave_out(&mut profile);
        (profile.total().samples, profile.remarks)
    }

    #[test]
    fn the_idle_task_is_left_out_and_interrupts_stay() {
        use Origin::{Kernel, Unknown, User};
        for (stack, origin) in [
            ("swapper;secondary_startup_64;cpu_startup_entry;do_idle;default_idle", Unknown),
            (
                "secondary_startup_64;cpu_startup_entry;do_idle;cpuidle_idle_call;menu_select",
                Kernel,
            ),
            ("start_kernel;cpu_startup_entry", Kernel),
            ("default_idle", Kernel),
            ("intel_idle", Kernel),
        ] {
            assert_eq!(left(&[(stack, origin)]), (0, vec![Remark::Idle { samples: 1 }]), "{stack}");
        }
        for (stack, origin) in [
            ("cpu_startup_entry;do_idle;default_idle;asm_common_interrupt;net_rx_action", Kernel),
            ("cpu_startup_entry;do_idle;cpuidle_enter;asm_sysvec_apic_timer_interrupt", Kernel),
            ("main;do_idle", User),
            ("main;default_idle", Unknown),
            ("main;work", Unknown),
        ] {
            assert_eq!(left(&[(stack, origin)]), (1, vec![]), "{stack}");
        }
    }
}
