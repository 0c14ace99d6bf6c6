//! Recordings that `perf record` makes here and now, compared with what `perf script` says of
//! them. Where perf may not record there is nothing to compare; `perf_data.rs` has recordings
//! that were made elsewhere.

mod host;
mod script;

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::perf_data::Options;
use kilocore_sampled_profile::{Function, Origin, Rate, Remark, SampledProfile, Unit};

use host::Host;
use script::Script;

/// The functions of the program that take time, in that recording of it.
const HOT: [&str; 7] =
    ["hot_leaf", "hot_library", "turn", "hot_main", "hot_thread", "hot_forked", "hot_executed"];

/// What fell on each function itself, by name.
fn own(profile: &SampledProfile) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (id, context) in profile.contexts.iter() {
        if let Some(function) = context.function.filter(|_| context.own.samples > 0) {
            let name = profile.functions.get(function).name.clone();
            assert!(profile.contexts.stack(id).next() == Some(function));
            *sums.entry(name).or_insert(0) += context.own.weight;
        }
    }
    sums
}

/// What fell on each function or on what it called, by name.
fn inclusive(profile: &SampledProfile) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (id, context) in profile.contexts.iter().filter(|(_, context)| context.own.samples > 0) {
        let mut names: Vec<&str> = profile
            .contexts
            .stack(id)
            .map(|function| &*profile.functions.get(function).name)
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            *sums.entry(name.to_owned()).or_insert(0) += context.own.weight;
        }
    }
    sums
}

/// The function of that name, of which there is one.
fn function<'a>(profile: &'a SampledProfile, name: &str) -> &'a Function {
    let mut found = profile.functions.iter().filter(|(_, function)| function.name == name);
    let function = found.next().unwrap_or_else(|| panic!("there is no {name}")).1;
    assert!(found.next().is_none(), "there are two {name}");
    function
}

/// The name that both would give: perf has none for a place in a file, and of the names at one
/// address in the kernel the two may take different ones.
fn common_name(name: &str) -> &str {
    let place_only = name.contains("+0x");
    if place_only { Function::UNKNOWN } else { name.strip_prefix("__pi_").unwrap_or(name) }
}

/// The sums under the names that both would give.
fn by_common_name(own: &BTreeMap<String, u64>) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (name, weight) in own {
        *sums.entry(common_name(name)).or_insert(0) += weight;
    }
    sums
}

/// Both say the same of what ran itself. perf leaves no function out and invents none.
fn assert_same_own(profile: &SampledProfile, script: &Script) {
    let (ours, perfs) = (own(profile), script.own());
    let total: u64 = perfs.values().sum();
    assert_eq!(profile.total().weight, total);
    let (common_ours, common_perfs) = (by_common_name(&ours), by_common_name(&perfs));
    let differ: Vec<_> = common_ours
        .iter()
        .map(|(name, weight)| (name, *weight, common_perfs.get(name).copied().unwrap_or(0)))
        .filter(|(_, ours, perfs)| ours != perfs)
        .collect();
    // Of several names at one address, and of code between functions, opinions may differ.
    let differing: u64 = differ.iter().map(|(_, ours, perfs)| ours.saturating_sub(*perfs)).sum();
    assert!(differing * 50 <= total, "{differing} of {total}: {differ:?}");
    for name in HOT {
        assert_eq!(ours.get(name), perfs.get(name), "{name}");
    }
}

fn no_truncation(profile: &SampledProfile) {
    let truncated = profile
        .remarks
        .iter()
        .any(|remark| matches!(remark, Remark::Truncated { .. } | Remark::Skipped { .. }));
    assert!(!truncated, "{:?}", profile.remarks);
}

#[test]
fn functions_get_what_perf_script_gives_them() {
    let Some(host) = Host::new() else { return };
    let file = host.record("flat.data", &["-F", "1999"]);
    let profile = host.read(&file, &host.options());
    no_truncation(&profile);
    assert_same_own(&profile, &Script::new(&host, &file));
    assert_eq!(profile.unit, Unit::Nanoseconds);
    assert_eq!(profile.facts.rate, Some(Rate::Hertz(1999.0)));
    assert_eq!(profile.facts.lost, 0);
    assert!(
        profile.facts.has_kernel
            && profile.facts.span.is_some_and(|span| span > Nanoseconds(100_000_000))
    );
    assert!(profile.facts.command.as_ref().is_some_and(|command| command.contains("program")));
    // The process, its thread, its child.
    assert_eq!(profile.facts.threads, 3);
    assert!(profile.facts.kernel.is_some() && profile.facts.event.is_some());
    let own = own(&profile);
    let kernel = |(_, f): (_, &Function)| f.origin == Origin::Kernel && f.is_known();
    assert!(profile.functions.iter().any(kernel));
    assert_eq!(function(&profile, "hot_leaf").object_name(), "program");
    assert_eq!(function(&profile, "hot_library").object_name(), "library.so");
    if cfg!(target_arch = "x86_64") {
        assert!(own["generated_loop"] > 10_000_000);
        assert_eq!(function(&profile, "generated_loop").object, "//anon");
    }
}

#[test]
fn callers_get_what_perf_script_gives_them() {
    let Some(host) = Host::new() else { return };
    let file = host.record("graph.data", &["-g"]);
    let profile = host.read(&file, &host.options());
    no_truncation(&profile);
    let script = Script::new(&host, &file);
    assert_same_own(&profile, &script);
    let (ours, perfs) = (inclusive(&profile), script.inclusive());
    for name in HOT.into_iter().chain(["main", "thread"]) {
        assert_eq!(ours.get(name), perfs.get(name), "{name}");
        assert!(ours[name] > 10_000_000, "{name} takes more than that");
    }
    // Forked memory is the parent's, and after exec it is not.
    let under = |callee: &str, caller: &str| {
        profile.contexts.iter().any(|(id, context)| {
            let names: Vec<&str> = profile
                .contexts
                .stack(id)
                .map(|function| &*profile.functions.get(function).name)
                .collect();
            context.own.samples > 0
                && names.first() == Some(&callee)
                && names.get(1) == Some(&caller)
        })
    };
    assert!(under("turn", "hot_forked") && under("turn", "hot_executed"));
    assert!(under("turn", "hot_thread") && !under("turn", "hot_leaf"));
}

#[test]
fn copied_stacks_are_unwound_as_perf_script_does() {
    let Some(host) = Host::new() else { return };
    let file = host.record("dwarf.data", &["--call-graph", "dwarf,2048", "-F", "499"]);
    let profile = host.read(&file, &host.options());
    no_truncation(&profile);
    let script = Script::new(&host, &file);
    assert_same_own(&profile, &script);
    let (ours, perfs) = (inclusive(&profile), script.inclusive());
    // Functions without frame pointers do not hide their callers here.
    for name in HOT.into_iter().chain(["thread", "hot_kernel"]) {
        assert_eq!(ours.get(name), perfs.get(name), "{name}");
        assert!(ours[name] > 10_000_000, "{name} takes more than that");
    }
    // perf stops where nothing says how code was called; there we follow frame pointers.
    let generated = ours.get("generated_loop").copied().unwrap_or(0);
    let (ours, perfs) = (ours["main"], perfs["main"] + generated);
    assert!(ours.abs_diff(perfs) * 20 <= profile.total().weight, "{ours} and {perfs}");
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let Some(host) = Host::new() else { return };
    let file = host.record_pipe("pipe.data", &["-g"]);
    let profile = host.read(&file, &host.options());
    no_truncation(&profile);
    assert_same_own(&profile, &Script::new(&host, &file));
    assert_eq!(profile.unit, Unit::Nanoseconds);
}

#[test]
fn compressed_records_are_expanded() {
    let Some(host) = Host::new() else { return };
    let file = host.record("compressed.data", &["-g", "-z"]);
    let profile = host.read(&file, &host.options());
    no_truncation(&profile);
    assert_same_own(&profile, &Script::new(&host, &file));
}

#[test]
fn one_of_several_events_is_taken() {
    let Some(host) = Host::new() else { return };
    let file = host.record("events.data", &["-e", "task-clock,page-faults"]);
    let profile = host.read(&file, &host.options());
    assert_eq!(profile.unit, Unit::Nanoseconds);
    let left_out = vec!["page-faults".to_owned()];
    assert!(profile.remarks.contains(&Remark::OtherEvents { left_out }), "{:?}", profile.remarks);
    let options = Options { event: Some("page-faults".to_owned()), ..host.options() };
    let profile = host.read(&file, &options);
    assert_eq!(profile.unit, Unit::Events("page-faults".to_owned()));
    assert!(profile.total().weight > 10);
    assert_eq!(
        own(&profile).values().sum::<u64>(),
        Script::of_event(&host, &file, "page-faults").own().values().sum()
    );
    let options = Options { event: Some("nonsense".to_owned()), ..host.options() };
    let message = host.try_read(&file, &options).expect_err("there is none").to_string();
    assert!(message.contains("task-clock") && message.contains("nonsense"), "{message}");
}

#[test]
fn with_a_fixed_period_each_sample_stands_for_it() {
    let Some(host) = Host::new() else { return };
    let file = host.record("period.data", &["-e", "task-clock", "-c", "500000"]);
    let profile = host.read(&file, &host.options());
    assert_eq!(profile.facts.rate, Some(Rate::Period(500_000)));
    assert_eq!(profile.total().weight, profile.total().samples * 500_000);
    assert_eq!(profile.unit, Unit::Nanoseconds);
    assert!(profile.total().samples > 100);
}

#[test]
fn the_whole_host_is_recorded() {
    let Some(host) = Host::new() else { return };
    let file = host.record("all.data", &["-a", "-g"]);
    let profile = host.read(&file, &host.options());
    no_truncation(&profile);
    assert_eq!(own(&profile).get("hot_leaf"), Script::new(&host, &file).own().get("hot_leaf"));
    assert!(profile.facts.processors.len() > 1 || host::processors() == 1);
}

#[test]
fn what_was_built_anew_is_not_asked_for_names() {
    let Some(host) = Host::new() else { return };
    let file = host.record("old.data", &[]);
    host.build("-O2");
    let profile = host.read(&file, &host.options());
    assert!(!own(&profile).contains_key("hot_leaf"));
    let program = host.path("program").display().to_string();
    let is_said = |remark: &Remark| matches!(remark, Remark::NoSymbols { object, why } if *object == program && why.contains("built anew"));
    assert!(profile.remarks.iter().any(is_said), "{:?}", profile.remarks);
    // But perf's own copy is.
    let mut options = host.options();
    options.debug_files.perf_cache = Some(host.path(".debug"));
    assert!(own(&host.read(&file, &options)).contains_key("hot_leaf"));
}

#[test]
fn another_boot_of_the_same_kernel_has_its_names_elsewhere() {
    let Some(host) = Host::new() else { return };
    let file = host.record("shifted.data", &[]);
    let expected = host.read(&file, &host.options());
    let kallsyms = host.shifted_kallsyms(0x20_0000);
    let options = Options { kallsyms: Some(kallsyms), ..host.options() };
    let shifted = host.read(&file, &options);
    let kernel = |profile: &SampledProfile| {
        let functions = profile.functions.iter().map(|(_, function)| function.clone());
        let mut names: Vec<Function> =
            functions.filter(|f| f.object == "[kernel.kallsyms]").collect();
        names.sort();
        names
    };
    assert!(kernel(&expected).iter().any(Function::is_known));
    assert_eq!(kernel(&shifted), kernel(&expected));
}

#[test]
fn a_killed_recording_gives_what_it_has() {
    let Some(host) = Host::new() else { return };
    let file = host.record_and_kill("killed.data");
    let profile = host.read(&file, &host.options());
    let is_truncated = |remark: &Remark| matches!(remark, Remark::Truncated { .. });
    assert!(profile.remarks.iter().any(is_truncated), "{:?}", profile.remarks);
    assert!(profile.total().samples > 100);
    assert!(own(&profile).contains_key("hot_leaf"));
}

#[test]
fn inlined_functions_are_frames_if_asked_for() {
    let Some(host) = Host::new() else { return };
    let file = host.record("inlined.data", &["-g"]);
    let options = Options { inlined: true, ..host.options() };
    let (plain, inlined) = (host.read(&file, &host.options()), host.read(&file, &options));
    assert_eq!(own(&plain).get("hot_leaf"), own(&inlined).get("hot_leaf"));
    assert_eq!(plain.total(), inlined.total());
}
