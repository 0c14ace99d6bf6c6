//! Whatever is in a file, reading it ends, and in bounds.
//!
//! Bytes of any kind, and files of real tools of which lines are swapped, parts cut out, doubled
//! and put into other files, and numbers made large.

use crate::common;

use std::io::Read;

use common::{at_home, golden_bytes, gzip, read_with};
use flate2::read::GzDecoder;
use kilocore_sampled_profile::{ContextId, Limits, Options, Remark};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMITS: Limits = Limits {
    line_bytes: 1 << 12,
    depth: 200,
    contexts: 2_000,
    name_bytes: 1 << 18,
    message_bytes: 1 << 20,
    events: 4,
};

const GOLDEN: [&str; 8] = [
    "inlined.script",
    "single.script",
    "system.script",
    "inlined.folded",
    "system.folded",
    "sorted.pb.gz",
    "worker.prof",
    "server.contention",
];

/// Those that name programs.
const OF_PROGRAMS: [&str; 2] = ["worker.prof", "server.contention"];

/// The files without names that are told of at most.
const NAMELESS: usize = 16;

/// A golden file's content, unpacked.
fn seed(index: usize) -> Vec<u8> {
    let name = GOLDEN[index % GOLDEN.len()];
    // To open the libraries of this host each time takes long, and shows nothing else.
    let bytes = if OF_PROGRAMS.contains(&name) { at_home(name) } else { golden_bytes(name) };
    if !name.ends_with(".gz") {
        return bytes;
    }
    let mut plain = Vec::new();
    GzDecoder::new(&bytes[..]).read_to_end(&mut plain).expect("a good file");
    plain
}

/// A change to a file; places are parts of its length.
#[derive(Debug, Clone)]
enum Change {
    Set { at: f64, byte: u8 },
    Cut { at: f64, length: usize },
    Double { at: f64, length: usize, to: f64 },
    SwapLines { one: f64, other: f64 },
    Splice { from: usize, at: f64, length: usize, to: f64 },
    Number { at: f64, number: u64 },
    Insert { at: f64, bytes: Vec<u8> },
    End { at: f64 },
}

fn change() -> impl Strategy<Value = Change> {
    let at = || 0.0..1.0;
    let length = || prop_oneof![1_usize..8, 1_usize..4_000];
    let number = prop_oneof![Just(u64::MAX), Just(0), Just(1 << 63), any::<u64>()];
    let word = prop_oneof![
        Just(b"\t".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b" (inlined)\n\tffffffffffffffff ".to_vec()),
        Just(b"PERF_RECORD_LOST lost 18446744073709551615\n".to_vec()),
        Just(
            b"app 4294967295 [4294967295] 18446744073.999999999: 18446744073709551615 c: ".to_vec()
        ),
        Just(vec![0xff; 12]),
        vec(any::<u8>(), 1..40),
    ];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set { at, byte }),
        (at(), length()).prop_map(|(at, length)| Change::Cut { at, length }),
        (at(), length(), at()).prop_map(|(at, length, to)| Change::Double { at, length, to }),
        (at(), at()).prop_map(|(one, other)| Change::SwapLines { one, other }),
        (0..GOLDEN.len(), at(), length(), at()).prop_map(|(from, at, length, to)| Change::Splice {
            from,
            at,
            length,
            to
        }),
        (at(), number).prop_map(|(at, number)| Change::Number { at, number }),
        (at(), word).prop_map(|(at, bytes)| Change::Insert { at, bytes }),
        at().prop_map(|at| Change::End { at }),
    ]
}

fn place(at: f64, length: usize) -> usize {
    (at * length as f64) as usize
}

fn part(bytes: &[u8], at: f64, length: usize) -> Vec<u8> {
    let start = place(at, bytes.len());
    bytes[start..bytes.len().min(start + length)].to_owned()
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let here = |at| place(at, bytes.len());
    match *change {
        Change::Set { at, byte } => {
            let at = here(at);
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
        }
        Change::Cut { at, length } => {
            let at = here(at);
            bytes.drain(at..bytes.len().min(at + length));
        }
        Change::Double { at, length, to } => {
            let (part, to) = (part(bytes, at, length), here(to));
            bytes.splice(to..to, part);
        }
        Change::SwapLines { one, other } => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
            if !lines.is_empty() {
                let (one, other) = (place(one, lines.len()), place(other, lines.len()));
                lines.swap(one, other);
            }
            *bytes = lines.concat();
        }
        Change::Splice { from, at, length, to } => {
            let (part, to) = (part(&seed(from), at, length), here(to));
            bytes.splice(to..to, part);
        }
        Change::Number { at, number } => {
            let start = here(at);
            let Some(start) =
                bytes[start..].iter().position(u8::is_ascii_digit).map(|digit| start + digit)
            else {
                return;
            };
            let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            bytes.splice(start..start + digits, number.to_string().into_bytes());
        }
        Change::Insert { at, bytes: ref what } => {
            let at = here(at);
            bytes.splice(at..at, what.iter().copied());
        }
        Change::End { at } => bytes.truncate(here(at)),
    }
}

/// Reads, and checks that whatever comes of it is in bounds and makes sense.
fn check(bytes: &[u8], event: Option<String>) -> Result<(), TestCaseError> {
    let options = Options { event, limits: LIMITS, ..Options::default() };
    let profile = match read_with(bytes, &options) {
        Ok(profile) => profile,
        Err(error) => {
            let message = error.to_string();
            prop_assert!(message.starts_with('/'), "{}", message);
            prop_assert!(message.len() < 16_000, "{}", message);
            return Ok(());
        }
    };
    prop_assert!(profile.total().samples > 0);
    prop_assert!(profile.contexts.len() > 1 && profile.contexts.len() <= LIMITS.contexts);
    prop_assert!(profile.functions.len() < profile.contexts.len() + LIMITS.depth);
    let root = profile.contexts.inclusive()[ContextId::ROOT.index()];
    prop_assert_eq!(root, profile.total());
    for (id, _) in profile.contexts.iter() {
        prop_assert!(profile.contexts.stack(id).count() <= LIMITS.depth);
    }
    for (_, function) in profile.functions.iter() {
        prop_assert!(!function.name.is_empty());
    }
    let is_nameless = |remark: &&Remark| matches!(remark, Remark::NoSymbols { .. });
    let nameless = profile.remarks.iter().filter(is_nameless).count();
    prop_assert!(nameless <= NAMELESS && profile.remarks.len() - nameless <= 4);
    for remark in &profile.remarks {
        if let Remark::Skipped { count, first, .. } = remark {
            prop_assert!(*count > 0 && *first > 0);
        }
        prop_assert!(remark.to_string().len() < 16_000);
    }
    Ok(())
}

/// A file that is like a real one.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    (0..GOLDEN.len(), vec(change(), 1..12), any::<bool>(), 0.0..1.0).prop_map(
        |(index, changes, packed, end)| {
            let mut bytes = seed(index);
            changes.iter().for_each(|change| apply(&mut bytes, change));
            if packed {
                bytes = gzip(&bytes);
                bytes.truncate(bytes.len().min(place(end * 2.0, bytes.len())));
            }
            bytes
        },
    )
}

fn event() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        3 => Just(None),
        1 => "cpu-clock|context-switches|samples|.{0,8}".prop_map(Some),
    ]
}

/// Bytes that look like something: words of the formats in any order.
fn words() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: [&[u8]; 32] = [
        b"app 7 ",
        b"[001] ",
        b"12.345678: ",
        b"250000 ",
        b"cycles:u: ",
        b"\n",
        b"\n\n",
        b"\t    4010f0 ",
        b"ffffffff81000130 ",
        b"main+0x1 ",
        b"[unknown] ",
        b"(inlined)",
        b"(/bin/a (deleted))",
        b"([kernel.kallsyms])",
        b"((",
        b"a;b_[k];",
        b" 12",
        b"# event : name = cycles, , { sample_period, sample_freq } = 99, ",
        b"\x0a\x04\x08\x01\x10\x02",
        b"\x12\x04\x0a\x02\x01\x02",
        b"\x22\x04\x08\x01\x18\x02",
        b"\x32\x00",
        b"\xff",
        b"PERF_RECORD_LOST lost 3",
        b"--- contention:\n",
        b"cycles/second = 1\n",
        b"sampling period = 18446744073709551615\n",
        b"MAPPED_LIBRARIES:\n",
        b"18446744073709551615 7 @ 0x4010f0 0xffffffffffffffff 0\n",
        concat!(
            "0-ffffffffffffffff r-xp ffffffffffffffff 0:0 0 ",
            env!("CARGO_MANIFEST_DIR"),
            "/tests/golden/worker\n"
        )
        .as_bytes(),
        b"\0\0\0\0\x03\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0",
        b"\x01\0\0\0\x01\0\0\0\xf0\x10\x40\0",
    ];
    let word = (0..WORDS.len()).prop_map(|index| WORDS[index]);
    vec(word, 0..200).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..3_000), packed: bool) {
        check(&if packed { gzip(&bytes) } else { bytes }, None)?;
    }

    #[test]
    fn any_words(bytes in words(), event in event()) {
        check(&bytes, event)?;
    }

    #[test]
    fn nearly_good_files(bytes in nearly(), event in event()) {
        check(&bytes, event)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60_000, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes; `make soak` runs it"]
    fn nearly_good_files_for_long(bytes in nearly(), event in event()) {
        check(&bytes, event)?;
    }

    #[test]
    #[ignore = "takes minutes; `make soak` runs it"]
    fn any_words_for_long(bytes in words(), event in event()) {
        check(&bytes, event)?;
    }
}
