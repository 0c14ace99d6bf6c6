//! Profiles made by hand.

use kilocore_locate::{Run, Work};
use kilocore_sampled_profile::{Format, Function, FunctionId, Origin, SampledProfile, Tally, Unit};

/// A profile of stacks: names from the outermost to the innermost with semicolons between them,
/// the number of samples, the time in nanoseconds.
pub(crate) fn profile(stacks: &[(&str, u64, u64)]) -> SampledProfile {
    let mut profile = SampledProfile::new(Format::Folded, Unit::Nanoseconds);
    profile.facts.has_kernel = true;
    for &(stack, samples, time) in stacks {
        let stack: Vec<FunctionId> =
            stack.rsplit(';').map(|name| profile.functions.id(&function(name))).collect();
        profile.contexts.sample(&stack, Tally::of(samples, time));
    }
    profile
}

/// A function by its name; `name@object` says where it is from, `@k` that it is the kernel's.
pub(crate) fn function(name: &str) -> Function {
    let (name, object, origin) = match name.split_once('@') {
        Some((name, "k")) => (name, "[kernel.kallsyms]", Origin::Kernel),
        Some((name, object)) => (name, object, Origin::User),
        None => (name, "/opt/app/server", Origin::User),
    };
    Function { name: name.into(), object: object.into(), origin }
}

/// A run of some work.
pub(crate) fn run(name: &str, profile: SampledProfile, work: u64) -> Run {
    Run {
        name: name.into(),
        profile,
        cores: None,
        work: Some(Work::units(work).unwrap()),
        elapsed: None,
        frequency: None,
        clock_ghz: None,
    }
}
