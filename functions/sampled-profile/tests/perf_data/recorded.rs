//! Recordings of perf's, with what perf says of them.

use std::collections::BTreeMap;
use std::fs;

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::perf_data::Options;
use kilocore_sampled_profile::{Origin, Rate, Remark, SampledProfile, Unit};

use crate::{data, options, read, truncation, try_read};

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(data().join(name)).expect("it is kept with the tests")
}

/// What fell on each function itself, by its name and file.
fn own(profile: &SampledProfile) -> BTreeMap<(String, String), u64> {
    let mut sums = BTreeMap::new();
    for (_, context) in profile.contexts.iter().filter(|(_, context)| context.own.samples > 0) {
        let function = context.function.expect("every sample is somewhere");
        let function = profile.functions.get(function);
        *sums.entry((function.name.clone(), function.object.clone())).or_insert(0) +=
            context.own.weight;
    }
    sums
}

/// The same by perf.
fn expected(name: &str, event: &str) -> BTreeMap<(String, String), u64> {
    let text = String::from_utf8(bytes(name)).expect("it is text");
    let lines = text.lines().map(|line| line.split(' ').collect::<Vec<&str>>());
    lines
        .filter(|words| words[0] == event)
        .map(|words| {
            let weight = words[3].parse().expect("it is a number");
            ((words[1].to_owned(), words[2].to_owned()), weight)
        })
        .collect()
}

/// The stacks, each as names from the outermost on.
fn stacks(profile: &SampledProfile) -> Vec<String> {
    let sampled = profile.contexts.iter().filter(|(_, context)| context.own.samples > 0);
    sampled
        .map(|(id, _)| {
            let stack = profile.contexts.stack(id);
            let mut names: Vec<&str> =
                stack.map(|function| &*profile.functions.get(function).name).collect();
            names.reverse();
            names.join(";")
        })
        .collect()
}

#[test]
fn they_say_what_perf_says() {
    for name in ["flat", "graph", "compressed", "copied", "pipe"] {
        let profile = read(&bytes(&format!("{name}.data")));
        let expected = expected(&format!("{name}.expected"), "cpu-clock");
        assert!(expected.len() > 1);
        assert_eq!(own(&profile), expected, "{name}");
        assert_eq!(truncation(&profile), None, "{name}");
        assert_eq!(profile.unit, Unit::Nanoseconds);
        assert_eq!(profile.facts.threads, 1);
        assert!(profile.facts.has_kernel && profile.facts.kernel.is_some());
        assert_eq!(profile.facts.lost, 0);
    }
}

#[test]
fn a_part_of_a_recording_can_be_read() {
    let bytes = bytes("graph.data");
    let samples = |from: u64, to: u64| {
        let options = Options { window: Some((from, to)), ..options() };
        try_read(&bytes, &options).expect("it is a recording").total().samples
    };
    let all = samples(0, u64::MAX);
    assert_eq!(all, read(&bytes).total().samples);
    // Whatever the clock was: the time before which half of the samples came.
    let (mut before, mut after) = (0, u64::MAX);
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if samples(0, middle) < all / 2 { before = middle } else { after = middle }
    }
    assert_eq!((samples(0, after), samples(after, u64::MAX)), (all / 2, all - all / 2));
}

#[test]
fn callers_are_found_by_frame_pointers_and_in_copied_stacks() {
    for name in ["graph.data", "compressed.data", "copied.data", "pipe.data"] {
        let stacks = stacks(&read(&bytes(name)));
        for stack in ["_start;often;leaf", "_start;seldom;leaf"] {
            assert!(
                stacks.iter().any(|found| found.ends_with(stack)),
                "{name}: no {stack} in {stacks:?}"
            );
        }
        let in_kernel =
            |stack: &String| stack.contains("kernel;call;") && stack.ends_with("read_zero");
        assert!(stacks.iter().any(in_kernel), "{name}: {stacks:?}");
    }
}

#[test]
fn a_recording_says_how_it_was_made() {
    let profile = read(&bytes("flat.data"));
    assert_eq!(profile.facts.event.as_deref(), Some("cpu-clock:ppp"));
    assert_eq!(profile.facts.rate, Some(Rate::Hertz(1999.0)));
    let command = profile.facts.command.expect("it is in the file");
    assert!(command.ends_with("record -q -F 1999 -o flat.data ./spin"), "{command}");
    let (span, duration) = (profile.facts.span, profile.facts.duration);
    assert!(span.is_some_and(|span| span > Nanoseconds(10_000_000)) && duration >= span);
}

#[test]
fn one_of_two_events_is_taken() {
    let bytes = bytes("events.data");
    let profile = read(&bytes);
    assert_eq!(own(&profile), expected("events.expected", "task-clock"));
    let left_out = vec!["page-faults".to_owned()];
    assert!(profile.remarks.contains(&Remark::OtherEvents { left_out }));
    let wanted = Options { event: Some("page-faults".to_owned()), ..options() };
    let profile = try_read(&bytes, &wanted).expect("it has them");
    assert_eq!(own(&profile), expected("events.expected", "page-faults"));
    assert_eq!(profile.unit, Unit::Events("page-faults".to_owned()));
}

#[test]
fn without_the_files_there_are_reasons_instead_of_names() {
    let nowhere = Options { kallsyms: None, files: Vec::new(), ..options() };
    let profile = try_read(&bytes("flat.data"), &nowhere).expect("it can be read");
    let reason = |of: &str| {
        profile.remarks.iter().find_map(|remark| match remark {
            Remark::NoSymbols { object, why } if object == of => Some(why.clone()),
            _ => None,
        })
    };
    let program = reason("/tmp/kilocore-recordings/spin").expect("it is not there");
    assert!(program.contains("No such file"), "{program}");
    let unnamed = |origin| {
        let mut of_origin = profile.functions.iter().filter(move |(_, f)| f.origin == origin);
        of_origin.all(|(_, function)| !function.is_known())
    };
    assert!(unnamed(Origin::User));
    let kernel = reason("[kernel.kallsyms]");
    // On the host that recorded it, the kernel's symbols are at hand.
    assert_eq!(kernel.is_some(), unnamed(Origin::Kernel));
    assert!(kernel.is_none_or(|why| why.contains("/proc/kallsyms")));
}

#[test]
fn symbols_that_were_given_and_are_none_are_an_error() {
    let wrong = Options { kallsyms: Some(data().join("spin.c")), ..options() };
    let message = try_read(&bytes("flat.data"), &wrong).expect_err("it is C").to_string();
    assert!(message.contains("spin.c"), "{message}");
}
