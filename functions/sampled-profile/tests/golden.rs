//! Files that real tools wrote.
//!
//! `inlined.script` and `single.script` are `perf script` of a C++ program with threads, recorded
//! with frames that debug information finds and without call chains; `system.script` is a
//! recording of all processors. `system.folded` and `inlined.folded` were made of these by
//! inferno-collapse-perf, `difference.folded` of both by inferno-diff-folded, and `sorted.pb.gz`
//! was written by the crate pprof in a Rust program. `make-worker` tells how `worker.prof` was made.

use crate::common;

use std::collections::BTreeMap;

use common::{golden, golden_bytes, read_bytes, read_with, samples, table};
use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::{
    Format, Options, Origin, Progress, Rate, ReadError, Remark, SampledProfile, Unit, read,
};

const PROGRAM: &str = "/home/user/my build/a worker (1)";

fn profile(name: &str) -> SampledProfile {
    read_bytes(&golden_bytes(name)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_recording_with_inlined_functions_and_two_events() {
    let event = Some("context-switches".to_owned());
    let options = Options { event, ..Options::default() };
    let profile = read_with(&golden_bytes("inlined.script"), &options).unwrap();
    assert_eq!(profile.format, Format::PerfScript);
    assert_eq!(profile.unit, Unit::Events("context-switches".to_owned()));
    assert_eq!((profile.total().samples, profile.total().weight), (23, 329));
    let facts = &profile.facts;
    assert_eq!(facts.event.as_deref(), Some("context-switches"));
    assert_eq!(facts.rate, Some(Rate::Hertz(49.0)));
    assert_eq!(facts.duration, Some(Nanoseconds(360_193_000)));
    assert_eq!((facts.threads, facts.kernel.as_deref()), (4, Some("6.18.44")));
    assert!(facts.has_kernel && facts.command.as_ref().unwrap().ends_with("my build/a worker (1)"));
    let left_out = vec!["cpu-clock".to_owned()];
    assert_eq!(profile.remarks, [Remark::OtherEvents { left_out }, Remark::Inlined]);

    // Inlined into a function that perf printed before them; where it printed none with their
    // address, nobody knows. Then into one printed behind them.
    let inlined = |name: &str| {
        let found = profile.functions.iter().filter(|(_, function)| function.name == name);
        found.map(|(_, function)| (&*function.object, function.origin)).collect::<Vec<_>>()
    };
    assert_eq!(
        inlined("__invoke<main(int, char**)::<lambda()> >"),
        [(PROGRAM, Origin::User), ("", Origin::User)]
    );
    assert_eq!(inlined("emplace_back<main(int, char**)::<lambda()> >"), [(PROGRAM, Origin::User)]);
    assert_eq!(inlined("schedule"), [("[kernel.kallsyms]", Origin::Kernel)]);
    let leaves: Vec<String> =
        table(&profile).into_keys().map(|stack| stack.last().unwrap().name.clone()).collect();
    assert!(leaves.iter().all(|leaf| leaf == "schedule"), "{leaves:?}");
}

#[test]
fn the_other_event_of_a_recording() {
    // It is a clock, so it is taken before an event with more samples.
    let profile = profile("inlined.script");
    assert_eq!(profile.unit, Unit::Nanoseconds);
    assert_eq!((profile.total().samples, profile.total().weight), (16, 16 * 20_408_163));
    let left_out = vec!["context-switches".to_owned()];
    assert_eq!(profile.remarks, [Remark::OtherEvents { left_out }, Remark::Inlined]);
    let asked = Some("cycles".to_owned());
    let options = Options { event: asked, ..Options::default() };
    let error = read_with(&golden_bytes("inlined.script"), &options).unwrap_err();
    assert!(matches!(&error, ReadError::NoSuchEvent { there, .. } if there.len() == 2), "{error}");
}

#[test]
fn a_recording_of_all_processors_and_what_another_program_made_of_it() {
    let profile = profile("system.script");
    assert_eq!(profile.unit, Unit::Nanoseconds);
    assert_eq!((profile.total().samples, profile.total().weight), (21, 21 * 20_408_163));
    assert_eq!(profile.facts.rate, Some(Rate::Period(20_408_163)));
    assert_eq!(Vec::from_iter(&profile.facts.processors), [&0, &1]);
    assert_eq!(profile.facts.threads, 3);
    assert!(profile.remarks.is_empty());

    let folded = self::profile("system.folded");
    assert_eq!(folded.format, Format::Folded);
    assert_eq!(folded.unit, Unit::Events("counts".to_owned()));
    assert_eq!(folded.facts.rate, Some(Rate::Period(20_408_163)));
    assert!(folded.facts.has_kernel);
    // It puts the command in front.
    let without_command: BTreeMap<String, u64> = samples(&folded)
        .into_iter()
        .map(|(stack, count)| (stack.strip_prefix("a_worker_(1);").unwrap().to_owned(), count))
        .collect();
    assert_eq!(without_command, samples(&profile));
    let kernel = |profile: &SampledProfile| {
        let functions = profile.functions.iter().filter(|(_, f)| f.origin == Origin::Kernel);
        functions.count()
    };
    assert_eq!(kernel(&folded), kernel(&profile));
}

#[test]
fn a_recording_without_call_chains() {
    let profile = profile("single.script");
    assert_eq!(profile.unit, Unit::Nanoseconds);
    assert_eq!(profile.facts.event.as_deref(), Some("task-clock:u"));
    assert_eq!((profile.total().samples, profile.facts.threads), (7, 3));
    assert!(!profile.facts.has_kernel);
    let by_function: Vec<(String, u64)> = table(&profile)
        .into_iter()
        .map(|(stack, tally)| {
            assert_eq!(stack.len(), 1);
            (stack[0].name.chars().take(20).collect(), tally.samples)
        })
        .collect();
    let wanted =
        [("__GI___fstatat64", 1), ("std::__introsort_loo", 4), ("std::thread::_State_", 2)];
    assert_eq!(by_function, wanted.map(|(name, samples)| (name.to_owned(), samples)));
}

#[test]
fn folded_stacks_with_marks_for_inlined_functions() {
    let profile = profile("inlined.folded");
    // It was made of samples of context switches.
    assert_eq!(profile.unit, Unit::Asleep);
    assert_eq!(profile.total().samples, 329);
    assert!(samples(&profile).keys().all(|stack| !stack.contains("_[")));
    let error = read_bytes(&golden_bytes("difference.folded")).unwrap_err();
    assert!(matches!(error, ReadError::Differential { line: 1, .. }), "{error}");
}

#[test]
fn a_pprof_profile_of_a_rust_program() {
    let path = golden("sorted.pb.gz");
    let mut told = Vec::new();
    let profile = read(&path, &Options::default(), &mut |progress| told.push(progress)).unwrap();
    let length = std::fs::metadata(&path).unwrap().len();
    assert_eq!(told.last(), Some(&Progress { read: length, total: Some(length) }));
    assert_eq!((profile.format, &profile.unit), (Format::Pprof, &Unit::Nanoseconds));
    assert_eq!((profile.total().samples, profile.total().weight), (40, 40 * 2_000_000));
    assert_eq!(profile.facts.rate, Some(Rate::Period(2_000_000)));
    assert_eq!(profile.facts.duration, Some(Nanoseconds(93_087_948)));
    assert_eq!(profile.facts.event.as_deref(), Some("cpu"));
    assert!(profile.remarks.is_empty());
    // Threads begin in `clone3`, and sorting is inlined into what is called from there.
    let stacks = samples(&profile);
    assert!(stacks.keys().any(|stack| stack.starts_with("clone3;") && stack.contains(";work;")));
    let sorting: u64 =
        stacks.iter().filter(|(s, _)| s.contains(";recursive;")).map(|(_, n)| n).sum();
    assert!(sorting > 0 && sorting < 40, "{stacks:?}");
}

#[test]
fn the_same_file_gives_the_same_tables_in_the_same_order() {
    for name in ["inlined.script", "system.script", "system.folded", "sorted.pb.gz"] {
        let [one, other] = [profile(name), profile(name)].map(|profile| {
            let functions: Vec<String> =
                profile.functions.iter().map(|(_, f)| format!("{f:?}")).collect();
            let contexts: Vec<String> =
                profile.contexts.iter().map(|(_, context)| format!("{context:?}")).collect();
            (functions, contexts)
        });
        assert_eq!(one, other, "{name}");
    }
}
