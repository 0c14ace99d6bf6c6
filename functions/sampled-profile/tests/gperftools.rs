//! Profiles of gperftools: a CPU profile that it made, and others by hand.

use crate::common;

use std::collections::BTreeMap;

use common::{at_home, golden, golden_bytes, gzip, read_bytes, read_with, samples, table};
use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::{
    Format, Limits, Options, Origin, Rate, ReadError, Remark, SampledProfile, Tally, Unit,
};

/// What gperftools' own pprof says: of each function, its own samples and those of all it called.
fn expected() -> BTreeMap<String, (u64, u64)> {
    let text = String::from_utf8(golden_bytes("worker.expected")).expect("it is text");
    let words = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let number = |word: &str| word.parse().expect("a number");
    words.map(|words| (words[5].to_owned(), (number(words[0]), number(words[3])))).collect()
}

/// The same of what was read.
fn by_function(profile: &SampledProfile) -> BTreeMap<String, (u64, u64)> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (stack, tally) in table(profile) {
        let mut names: Vec<&str> = stack.iter().map(|function| &*function.name).collect();
        sums.entry(names[names.len() - 1].to_owned()).or_default().0 += tally.samples;
        names.sort_unstable();
        names.dedup();
        for name in names {
            sums.entry(name.to_owned()).or_default().1 += tally.samples;
        }
    }
    sums
}

#[test]
fn a_cpu_profile_says_what_pprof_says() {
    let profile = read_bytes(&at_home("worker.prof")).unwrap();
    assert_eq!((profile.format, &profile.unit), (Format::GperftoolsCpu, &Unit::Nanoseconds));
    assert_eq!((profile.total().samples, profile.total().weight), (139, 139 * 5_000_000));
    assert_eq!(profile.facts.rate, Some(Rate::Period(5_000_000)));
    let (read, expected) = (by_function(&profile), expected());
    for function in ["hash", "count", "store", "order", "arrange", "main", "_start"] {
        assert_eq!(read.get(function), expected.get(function), "{function}");
    }
    assert!(samples(&profile).keys().any(|stack| stack.ends_with(";main;store;hash")));
    let functions = profile.functions.iter().map(|(_, function)| function);
    let of_libc: Vec<_> = functions.filter(|f| f.object.contains("/libc.so")).collect();
    assert!(matches!(of_libc[..], [f] if f.origin == Origin::User && !f.is_known()));
    assert!(
        profile.remarks.iter().all(|remark| matches!(remark, Remark::NoSymbols { object, .. }
            if object.starts_with("/nowhere/") || object == "[vdso]")),
        "{:?}",
        profile.remarks
    );
    let packed = read_bytes(&gzip(&at_home("worker.prof"))).unwrap();
    assert_eq!(table(&packed), table(&profile));
}

/// Where the function `hash` of `worker` begins in the file, and where it ends.
const HASH: (u64, u64) = (0x11c0, 0x11f5);

/// A CPU profile with words of this kind: of each stack the samples and the addresses.
fn cpu(bytes: usize, big_endian: bool, stacks: &[(u64, &[u64])], maps: &str) -> Vec<u8> {
    let mut words = vec![0, 3, 0, 10_000, 0];
    for (samples, addresses) in stacks {
        words.extend([*samples, addresses.len() as u64]);
        words.extend(*addresses);
    }
    words.extend([0, 1, 0]);
    let word = |word: &u64| match big_endian {
        true => word.to_be_bytes()[8 - bytes..].to_vec(),
        false => word.to_le_bytes()[..bytes].to_vec(),
    };
    let mut file: Vec<u8> = words.iter().flat_map(word).collect();
    file.extend_from_slice(maps.as_bytes());
    file
}

/// The whole program, mapped at 4 MiB.
fn maps() -> String {
    format!("00400000-00410000 r-xp 00000000 08:02 7   {}\n", golden("worker").display())
}

#[test]
fn words_of_either_width_and_order_are_read() {
    // The innermost address is where a function runs; the others are behind calls.
    let [start, end] = [HASH.0, HASH.1].map(|offset| 0x40_0000 + offset);
    let stacks: [(u64, &[u64]); 3] = [
        (2, &[start, end]),
        // Found a second time by the unwinder.
        (3, &[start, start, end]),
        (1, &[0x70_0000]),
    ];
    for (bytes, big_endian) in [(4, false), (4, true), (8, false), (8, true)] {
        let profile = read_bytes(&cpu(bytes, big_endian, &stacks, &maps())).unwrap();
        let wanted = BTreeMap::from([("hash;hash".to_owned(), 5), ("[unknown]".to_owned(), 1)]);
        assert_eq!(samples(&profile), wanted, "{bytes} {big_endian}");
        assert_eq!(profile.total().weight, 60_000_000);
        assert!(profile.remarks.is_empty(), "{:?}", profile.remarks);
    }
}

#[test]
fn what_is_wrong_with_a_cpu_profile_is_said() {
    let stacks: [(u64, &[u64]); 2] = [(2, &[0x40_1000]), (1, &[0x40_1000, 0x40_1010])];
    let whole = cpu(8, false, &stacks, &maps());
    let error = |bytes: &[u8]| read_bytes(bytes).expect_err("it is bad").to_string();
    for length in [40, 41, 56, 80, 100] {
        let message = error(&whole[..length]);
        let is_said = message.contains("breaks off at byte") && message.contains("ProfilerStop");
        assert!(is_said, "{length}: {message}");
    }
    let message = error(&cpu(8, false, &stacks, ""));
    assert!(message.contains("no list of mapped files"), "{message}");
    let message = error(&cpu(8, false, &[], &maps()));
    assert!(message.contains("there is no sample"), "{message}");

    // What cannot be read is left out and told.
    let deep = [0x40_1000; 9];
    let stacks: [(u64, &[u64]); 4] = [(2, &[0x40_1000]), (1, &[0x40_1001]), (7, &deep), (0, &[7])];
    let limits = Limits { depth: 8, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let profile = read_with(&cpu(8, false, &stacks, &maps()), &options).unwrap();
    assert_eq!(profile.total().samples, 3);
    assert!(matches!(profile.remarks[..], [Remark::Skipped { count: 2, first: 3, .. }]));
    let limits = Limits { contexts: 8, ..Limits::default() };
    let refused = read_with(&cpu(8, false, &stacks, &maps()), &Options { limits, ..options });
    assert!(matches!(refused, Err(ReadError::TooLarge { limit: 8, .. })));
}

#[test]
fn a_file_that_was_replaced_is_not_taken_for_the_one_that_ran() {
    let stacks: [(u64, &[u64]); 1] = [(2, &[0x40_0000 + HASH.0])];
    let replaced = maps().replace('\n', " (deleted)\n");
    let profile = read_bytes(&cpu(8, false, &stacks, &replaced)).unwrap();
    assert!(samples(&profile).contains_key("[unknown]"));
    assert!(
        matches!(&profile.remarks[..], [Remark::NoSymbols { why, .. }] if why.contains("deleted"))
    );
}

#[test]
fn a_contention_profile_is_time_that_threads_waited() {
    let profile = read_bytes(&at_home("server.contention")).unwrap();
    assert_eq!((profile.format, &profile.unit), (Format::Contention, &Unit::Waiting));
    assert_eq!(profile.facts.duration, Some(Nanoseconds(16_502_830_000_000)));
    assert_eq!((profile.facts.lost, profile.facts.event.as_deref()), (3, Some("delay")));
    let stacks = table(&profile);
    let named: BTreeMap<String, Tally> = stacks
        .into_iter()
        .map(|(stack, tally)| {
            let names: Vec<String> = stack.into_iter().map(|function| function.name).collect();
            (names.join(";"), tally)
        })
        .collect();
    // Two cycles are a nanosecond, and one wait stands for a hundred.
    let wanted = [
        ("main;store;hash", Tally::of(2_700, 974_515_200)),
        ("main;count", Tally::of(100, 100_000)),
        ("main;[unknown]", Tally::of(100, 25_000)),
    ];
    assert_eq!(named, wanted.map(|(stack, tally)| (stack.to_owned(), tally)).into());
    let why = "it is memory without a file";
    assert_eq!(
        profile.remarks,
        [Remark::NoSymbols { object: "[anon]".to_owned(), why: why.to_owned() }]
    );
}

#[test]
fn what_is_wrong_with_a_contention_profile_is_said() {
    let text = String::from_utf8(at_home("server.contention")).expect("it is text");
    let error = |text: &str| read_bytes(text.as_bytes()).expect_err("it is bad").to_string();
    let (stacks, _) = text.split_once("--- Memory map").expect("it has one");
    assert!(error(stacks).contains("no list of mapped files"));
    assert!(error(&text.replace(" @", " at")).contains("there is no stack"));
    let bad = text.replace("2000        1 @", "2000 one @");
    assert!(matches!(
        read_bytes(bad.as_bytes()).unwrap().remarks[..],
        [Remark::NoSymbols { .. }, Remark::Skipped { count: 1, first: 7, .. }]
    ));
    // Cycles of unknown length tell of threads asleep, but not how long they were.
    let without = text.replace("cycles/second", "format");
    assert_eq!(read_bytes(without.as_bytes()).unwrap().unit, Unit::Asleep);
    let none: String =
        text.lines().filter(|line| !line.contains('@')).map(|l| format!("{l}\n")).collect();
    assert!(error(&none).contains("no thread waited"));
}
