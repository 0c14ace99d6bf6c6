//! Any tree, written in each of the formats, is the same tree when it is read.

use crate::common;

use std::collections::BTreeMap;
use std::fmt::Write;

use common::pprof::{Profile, Sample};
use common::{gzip, read_bytes, read_with, table};
use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::{Format, Function, Options, Origin, ReadError, Tally, Unit};
use proptest::prelude::*;
use prost::Message;

/// Names as programs have them: with spaces, brackets, and letters that could be digits.
const FUNCTIONS: [(&str, &str, Origin); 11] = [
    ("serve", "/usr/bin/a b", Origin::User),
    ("operator()(int) const", "/lib/x (1).so", Origin::User),
    ("std::map<int, char>::find(int)", "/lib/x (1).so", Origin::User),
    ("f(void (*)(int), char)", "/opt/[odd] name (deleted)", Origin::User),
    ("add", "/bin/hex", Origin::User),
    ("größer λ", "/tmp/é", Origin::User),
    ("[unknown]", "/lib/y.so", Origin::User),
    ("[unknown]", "", Origin::User),
    ("gettimeofday", "[vdso]", Origin::User),
    ("do_exit", "[kernel.kallsyms]", Origin::Kernel),
    ("nft_do_chain", "[nf_tables]", Origin::Kernel),
];

fn function(index: usize) -> Function {
    let (name, object, origin) = FUNCTIONS[index];
    Function { name: name.to_owned(), object: object.to_owned(), origin }
}

/// An address that only this function has.
fn address(index: usize) -> u64 {
    match FUNCTIONS[index].2 {
        Origin::Kernel => 0xffff_ffff_8100_0000 + index as u64 * 0x100,
        _ => 0x40_0000 + index as u64 * 0x100,
    }
}

/// Stacks, the outermost function first, and how many samples fell on each.
type Tree = BTreeMap<Vec<usize>, u64>;

fn tree(names: usize) -> impl Strategy<Value = Tree> {
    let stack = proptest::collection::vec(0..names, 1..12);
    proptest::collection::btree_map(stack, 1_u64..40, 1..20)
}

/// The table that a tree makes, if `count` samples are tallied so.
fn wanted(tree: &Tree, tally: impl Fn(u64) -> Tally) -> BTreeMap<Vec<Function>, Tally> {
    tree.iter()
        .map(|(stack, &count)| (stack.iter().map(|&f| function(f)).collect(), tally(count)))
        .collect()
}

/// So many samples, one by one.
fn one_by_one(count: u64, weight: u64) -> Tally {
    let mut sum = Tally::default();
    (0..count).for_each(|_| sum.add(Tally::of(1, weight)));
    sum
}

/// How to print for `perf script`.
#[derive(Debug, Clone, Copy)]
struct Print {
    with_offset: bool,
    with_processor: bool,
    line_end: &'static str,
    ends: bool,
}

fn print() -> impl Strategy<Value = Print> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(with_offset, with_processor, dos, ends)| Print {
            with_offset,
            with_processor,
            line_end: if dos { "\r\n" } else { "\n" },
            ends,
        },
    )
}

fn script(tree: &Tree, print: Print) -> String {
    let mut text = String::new();
    let end = print.line_end;
    let mut time = 100;
    for (stack, &count) in tree {
        for _ in 0..count {
            time += 1;
            let processor = if print.with_processor { "[001] " } else { "" };
            write!(text, "my app 7  41/42 {processor}12.{time:06}:     250000 cpu-clock:u: {end}")
                .unwrap();
            for &index in stack.iter().rev() {
                let (name, object, _) = FUNCTIONS[index];
                let object = if object.is_empty() { "[unknown]" } else { object };
                let offset = if print.with_offset && name != "[unknown]" { "+0x1f" } else { "" };
                write!(text, "\t{:16x} {name}{offset} ({object}){end}", address(index)).unwrap();
            }
            text.push_str(end);
        }
    }
    if !print.ends {
        text.truncate(text.trim_end().len());
    }
    text
}

proptest! {
    #[test]
    fn script_text(tree in tree(FUNCTIONS.len()), print in print()) {
        let profile = read_bytes(script(&tree, print).as_bytes()).expect("a good text");
        prop_assert_eq!(profile.format, Format::PerfScript);
        prop_assert_eq!(&profile.unit, &Unit::Nanoseconds);
        prop_assert_eq!(table(&profile), wanted(&tree, |count| one_by_one(count, 250_000)));
        prop_assert!(profile.remarks.is_empty());
        prop_assert_eq!(profile.facts.threads, 1);
        let processors: Vec<u32> = profile.facts.processors.into_iter().collect();
        prop_assert_eq!(processors, if print.with_processor { vec![1] } else { vec![] });
        let samples: u64 = tree.values().sum();
        prop_assert_eq!(profile.facts.span, Some(Nanoseconds((samples - 1) * 1_000)));
    }

    #[test]
    fn folded_stacks(tree in tree(FUNCTIONS.len()), packed: bool, ns in proptest::option::of(1_u64..1_000_000)) {
        // Neither objects nor where code lies can be written, but for the kernel's mark.
        let plain = |index: usize| {
            let (name, _, origin) = FUNCTIONS[index];
            let origin = if origin == Origin::Kernel { origin } else { Origin::Unknown };
            Function { name: name.to_owned(), object: String::new(), origin }
        };
        let mut text = String::new();
        let mut wanted: BTreeMap<Vec<Function>, Tally> = BTreeMap::new();
        for (stack, &count) in &tree {
            let functions: Vec<Function> = stack.iter().map(|&index| plain(index)).collect();
            let mark = |f: &Function| if f.origin == Origin::Kernel { "_[k]" } else { "" };
            let names: Vec<String> = functions.iter().map(|f| format!("{}{}", f.name, mark(f))).collect();
            writeln!(text, "{} {count}", names.join(";")).unwrap();
            let tally = Tally::of(count, count * ns.unwrap_or(1));
            wanted.entry(functions).or_default().add(tally);
        }
        let options = Options { nanoseconds_per_count: ns, ..Options::default() };
        let bytes = if packed { gzip(text.as_bytes()) } else { text.into_bytes() };
        let read = read_with(&bytes, &options);
        if tree.keys().all(|stack| stack.len() == 1) {
            // Any list has a word and a number in each line.
            let is_refused = matches!(read, Err(ReadError::Nothing { .. }));
            prop_assert!(is_refused);
            return Ok(());
        }
        let profile = read.expect("a good text");
        prop_assert_eq!(profile.format, Format::Folded);
        prop_assert_eq!(&profile.unit, if ns.is_some() { &Unit::Nanoseconds } else { &Unit::Samples });
        prop_assert_eq!(table(&profile), wanted);
        prop_assert!(profile.remarks.is_empty());
    }

    #[test]
    fn protocol_buffers(tree in tree(FUNCTIONS.len()), packed: bool) {
        let mut file = Profile::go();
        for (stack, &count) in &tree {
            let location_id =
                stack.iter().rev().map(|&index| file.at(&function(index), address(index))).collect();
            let value = vec![count as i64, count as i64 * 10_000_000];
            file.sample.push(Sample { location_id, value, label: Vec::new() });
        }
        let bytes = file.encode_to_vec();
        let profile = read_bytes(&if packed { gzip(&bytes) } else { bytes }).expect("a good file");
        prop_assert_eq!(profile.format, Format::Pprof);
        prop_assert_eq!(&profile.unit, &Unit::Nanoseconds);
        prop_assert_eq!(table(&profile), wanted(&tree, |count| Tally::of(count, count * 10_000_000)));
        prop_assert!(profile.remarks.is_empty());
    }
}
