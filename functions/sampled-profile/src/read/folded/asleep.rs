//! Tells threads asleep from threads on processors.
//!
//! Tools such as bcc's offcputime fold the stacks at which threads went to sleep, and how many
//! microseconds they slept; others count how often. Such a file looks like one of samples. But its
//! stacks all end in the function of the kernel that takes a thread off its processor.

use crate::{Contexts, Functions, Origin};

/// The kernel's functions by which a thread goes off its processor.
const SCHEDULERS: [&str; 5] =
    ["finish_task_switch", "__schedule", "schedule", "__sched_text_start", "io_schedule"];

/// From this share of the weight on, all of a profile is time asleep.
const NEARLY_ALL: f64 = 0.9;

/// Whether the innermost functions of nearly all that a profile counts take threads off processors.
pub(super) fn is_asleep(functions: &Functions, contexts: &Contexts) -> bool {
    let (mut asleep, mut all) = (0.0, 0.0);
    for (_, context) in contexts.iter() {
        let Some(function) = context.function else { continue };
        let function = functions.get(function);
        // `finish_task_switch.isra.0`: compilers give copies of functions suffixes.
        let name = function.name.split('.').next().unwrap_or_default();
        let weight = context.own.weight as f64;
        all += weight;
        if function.origin != Origin::User && SCHEDULERS.contains(&name) {
            asleep += weight;
        }
    }
    all > 0.0 && asleep >= all * NEARLY_ALL
}
