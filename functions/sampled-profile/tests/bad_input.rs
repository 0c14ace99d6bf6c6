//! What is wrong with a file is said, and what is not wrong is read.

use crate::common;

use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;

use common::pprof::{Line, Location, Profile, Sample, ValueType};
use common::{golden_bytes, gzip, read_bytes, read_with, samples, table};
use kilocore_sampled_profile::{
    Function, Limits, Options, Origin, ReadError, Remark, SampledProfile, Tally, Unit, read,
};
use prost::Message;

/// A sample of `perf script` with a stack of one function.
fn sample(time: u32, function: &str) -> String {
    format!("app  7 1.{time:06}:     1000 cycles: \n\t     4010f0 {function}+0x1 (/bin/app)\n\n")
}

fn error(bytes: &[u8]) -> ReadError {
    read_bytes(bytes).expect_err("a bad file")
}

#[test]
fn files_that_are_no_profiles_are_refused_with_a_mend() {
    let cases: [(&[u8], &str); 16] = [
        (b"", "the file is empty; record again"),
        (b" \n\n\t\n", "the file is empty"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0", "begins with"),
        (&[0; 100_000], "`perf script` prints"),
        (b"Dear reader,\nthis is a letter.\n", "\"Dear reader,"),
        (b"{\n  \"locks\": [],\n  \"count\": 12\n}\n", "this is a JSON document"),
        (b"\x28\xb5\x2f\xfd123", "`zstd -d`"),
        (b"\xfd7zXZ\0\0", "`xz -d`"),
        (b"BZh91AY", "`bzip2 -d`"),
        (b"PERFILE2\x68\0\0\0", "the header breaks off"),
        (b"a;b 1.5\na;c 2.5\n", ":1: the number at the end is no whole number"),
        (b"# comment\na;b\na;c\n", ":2: there is no space with a number behind it: \"a;b\""),
        (b"a;b 1 2\na;c 0 2\n", ":1: a stack with two numbers"),
        (b"app 7 1.000001: 1000 cycles: \n\n", "1 samples, none with a stack"),
        (b"# ========\n# cmdline : perf record\n", ":2: there is no sample up to here"),
        (b"\t4010f0 main+0x\xff (/bin/a\n", "it begins with"),
    ];
    for (bytes, what) in cases {
        for bytes in [bytes.to_owned(), gzip(bytes)] {
            let message = error(&bytes).to_string();
            assert!(message.contains(what), "{what}: {message}");
            assert!(message.contains('/') && message.len() < 600, "{message}");
        }
    }
}

#[test]
fn a_file_of_which_most_cannot_be_read_is_no_profile() {
    let records: String = (0..100).map(|record| format!("record {record}; unreadable\n")).collect();
    let cases = [
        (format!("{records}main;work 7\n"), "100 entries like this", "folded stacks"),
        (format!("{}{records}", sample(1, "main")), "100 entries like this", "perf script"),
    ];
    for (text, what, format) in cases {
        let message = error(text.as_bytes()).to_string();
        assert!(message.contains(what) && message.contains(format), "{message}");
        assert!(message.contains("convert it to folded stacks"), "{message}");
    }
    // Some lines that cannot be read are no reason to refuse the others.
    let text = "main;work 7\n".repeat(30) + &records.lines().take(9).collect::<Vec<_>>().join("\n");
    assert_eq!(read_bytes(text.as_bytes()).unwrap().total().samples, 210);
}

#[test]
fn formats_of_other_tools_are_named_with_what_converts_them() {
    let utf_16: Vec<u8> =
        "\u{feff}main;work 12\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&[u8], &str); 5] = [
        (b"FLR\0\0\x02\0\0a b;c 12\n", "jfrconv"),
        (&utf_16, "iconv -f UTF-16"),
        (b"# To display the perf.data header info, please use --header\n#\n", "`perf script`"),
        (b"\tMon Time and Allocation Profiling Report  (Final)\n\n  main 1.0: 12\n", "GHC"),
        (b"\n      libc.so.1`read+0x12\n      app`main+0x1\n     12\n", "stackcollapse"),
    ];
    for (bytes, what) in cases {
        let message = error(bytes).to_string();
        assert!(message.contains(what), "{what}: {message}");
    }
}

#[test]
fn a_list_with_numbers_at_the_ends_of_its_lines_is_no_profile() {
    let log: String =
        (0..60).map(|i| format!("12:00:{i:02} INFO request {i} status {i}\n")).collect();
    for text in [&log, "hello world 12\nfoo 3\n"] {
        let message = error(text.as_bytes()).to_string();
        assert!(
            message.contains("`;` between them") && message.contains("main;work 12"),
            "{message}"
        );
    }
}

#[test]
fn time_asleep_is_told_from_samples() {
    let text = "app;main;futex_wait;schedule;finish_task_switch.isra.0 2500000\n\
                app;main;ep_poll;schedule_hrtimeout_range;schedule 1000000\n";
    let profile = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(profile.unit, Unit::Asleep);
    assert_eq!(profile.total().weight, 3_500_000);
    // The process is no function.
    assert!(samples(&profile).keys().all(|stack| stack.starts_with("main;")), "{profile:?}");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    for (path, what) in [("/nowhere/at all", "No such file"), ("/", "directory")] {
        let error = read(Path::new(path), &Options::default(), &mut |_| {}).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(path) && message.contains(what), "{message}");
        assert!(message.contains("; name a profile that exists"), "{message}");
    }
}

#[test]
fn a_compressed_file_without_anything_that_can_be_read() {
    for length in [2, 9, 11] {
        let message = error(&gzip(b"a;b 1\n")[..length]).to_string();
        let wanted = format!("byte {length}: the compressed data is cut short");
        assert!(message.contains(&wanted) && message.contains("copy"), "{message}");
    }
}

#[test]
fn a_pipe_will_do() {
    let (from, mut to) = std::io::pipe().expect("a pipe");
    let bytes = gzip(&golden_bytes("inlined.script"));
    let writer = std::thread::spawn(move || to.write_all(&bytes));
    let path = format!("/proc/self/fd/{}", from.as_raw_fd());
    let mut totals = Vec::new();
    let profile =
        read(Path::new(&path), &Options::default(), &mut |told| totals.push(told.total)).unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(profile.total().weight, 326_530_608);
    assert!(!totals.is_empty() && totals.iter().all(Option::is_none));
}

#[test]
fn lines_that_cannot_be_read_are_counted() {
    let text = format!(
        "{}Warning: something else\n\n{}\tnot a frame\n\n{}app 7 1.500000: cycles: \n\t1 late+0x1 (/a)\n\n",
        sample(1, "main"),
        sample(2, "main").trim_end(),
        sample(3, "work"),
    );
    let profile = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(profile.total().samples, 3);
    let [Remark::Skipped { count: 3, first: 4, what }] = &profile.remarks[..] else {
        panic!("{:?}", profile.remarks);
    };
    assert_eq!(what, "neither a sample nor a line of a stack: \"Warning: something else\"");

    let profile = read_bytes(b"a;b 3\nc\na;c -1\n\na;d 4\n").unwrap();
    assert_eq!(profile.total().samples, 7);
    let [Remark::Skipped { count: 2, first: 2, .. }] = &profile.remarks[..] else {
        panic!("{:?}", profile.remarks);
    };
    assert_eq!(
        profile.remarks[0].to_string(),
        "2 entries were left out, the first is number 2: \
         there is no space with a number behind it: \"c\""
    );
}

#[test]
fn a_compressed_file_that_was_cut_gives_what_is_there() {
    let text: String = (0..20_000).map(|n| sample(n, &format!("f{}", n * n % 9_973))).collect();
    let whole = gzip(text.as_bytes());
    let profile = read_bytes(&whole[..whole.len() / 2]).unwrap();
    let count = profile.total().samples;
    assert!((5_000..15_000).contains(&count), "{count}");
    let [Remark::Truncated { at, .. }] = profile.remarks[..] else {
        panic!("{:?}", profile.remarks);
    };
    assert_eq!(at, whole.len() as u64 / 2);
    // All stacks are whole ones.
    assert!(profile.functions.iter().all(|(_, f)| f.object == "/bin/app"));

    // A number of which the end is missing is not taken for a whole one.
    let text: String =
        (0..50_000_u64).map(|n| format!("a;f{} 70000003\n", n * n % 9_973)).collect();
    let whole = gzip(text.as_bytes());
    for end in whole.len() / 2..whole.len() / 2 + 40 {
        let profile = read_bytes(&whole[..end]).unwrap();
        assert_eq!(profile.total().weight % 70_000_003, 0);
        assert!(matches!(profile.remarks[..], [Remark::Truncated { .. }]));
    }
}

#[test]
fn foreign_line_ends_bytes_and_blank_lines() {
    let text = format!("\u{feff}{}{}", sample(1, "main"), sample(2, "f\u{fffd}"));
    let mut bytes = text.trim_end().replace('\n', "\r\n").into_bytes();
    let wrong = bytes.windows(3).rposition(|bytes| bytes == "\u{fffd}".as_bytes()).unwrap();
    bytes.splice(wrong..wrong + 3, [0xff]);
    let profile = read_bytes(&bytes).unwrap();
    assert!(profile.remarks.is_empty(), "{:?}", profile.remarks);
    let names: Vec<String> = samples(&profile).into_keys().collect();
    assert_eq!(names, ["f\u{fffd}", "main"]);
}

#[test]
fn samples_without_a_stack_are_samples() {
    let text = format!("{}app  7 1.000002:     1000 cycles: \n\n", sample(1, "main"));
    let profile = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(table(&profile).get(&Vec::new()), Some(&Tally::of(1, 1_000)));
    assert_eq!(profile.total().samples, 2);
}

#[test]
fn addresses_without_anything_else() {
    let text = " ffffffff816bb643 fput\n     7fa68b1f2d84 _dl_start\n ffffffff8161f744 fput\n";
    let profile = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(profile.unit, Unit::Samples);
    let wanted = [("_dl_start", 1), ("fput", 2)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(samples(&profile).into_iter().collect::<Vec<_>>(), wanted);
    let text = "\tffffffff816bb643 fput\n\t    7fa68b1f2d84 main\n\n\n\tffffffff816bb643 fput\n";
    for text in [text.to_owned(), text.replace('\t', "        ")] {
        let profile = read_bytes(text.as_bytes()).unwrap();
        let wanted = [("fput", 1), ("main;fput", 1)].map(|(name, n)| (name.to_owned(), n));
        assert_eq!(samples(&profile).into_iter().collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn commands_of_any_name() {
    for name in ["#1 worker", "1.5: x", "a: 7", "[001] 12", "7/8", "cycles:", "%", "x  12 K"] {
        let text = sample(1, "main").replacen("app", name, 1);
        for text in [text.clone(), text.replace("\n\n", "\n\t\n")] {
            let profile = read_bytes(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(profile.facts.threads, 1, "{name}");
            assert_eq!(profile.facts.event.as_deref(), Some("cycles"), "{name}");
            assert_eq!(profile.facts.processors.len(), 0, "{name}");
            assert_eq!(profile.total(), Tally::of(1, 1_000), "{name}");
            assert!(profile.remarks.is_empty(), "{name}: {:?}", profile.remarks);
        }
    }
}

#[test]
fn lost_samples_are_told() {
    let text = format!(
        "{}app  7 1.000002: PERF_RECORD_LOST lost 12\n{}app  7 1.4: PERF_RECORD_COMM: app:7/7\n\
         app  7 1.000004: PERF_RECORD_LOST_SAMPLES lost 5\n",
        sample(1, "main"),
        sample(3, "main"),
    );
    let profile = read_bytes(text.as_bytes()).unwrap();
    assert_eq!((profile.facts.lost, profile.total().samples), (17, 2));
    assert_eq!(profile.unit, Unit::Events("cycles".to_owned()));
}

#[test]
fn printed_without_periods_samples_are_counted() {
    let text = "app  7 1.000001: cpu-clock: \n\t  4010f0 main (/bin/app)\n\n";
    assert_eq!(read_bytes(text.as_bytes()).unwrap().unit, Unit::Samples);
    let options = Options { nanoseconds_per_count: Some(500), ..Options::default() };
    let profile = read_with(text.as_bytes(), &options).unwrap();
    assert_eq!((profile.unit.clone(), profile.total()), (Unit::Nanoseconds, Tally::of(1, 500)));
}

#[test]
fn tabs_that_became_spaces_and_lines_of_source_code() {
    let text = "app  7 1.000001:     1000 cycles: \n          4010f0 main+0x1 (/bin/app)\n  \
                app.c:12\n          4010f8 add (/bin/app)\n  /usr/include/a b.h:7\n\n";
    let profile = read_bytes(text.as_bytes()).unwrap();
    assert!(profile.remarks.is_empty(), "{:?}", profile.remarks);
    assert_eq!(Vec::from_iter(samples(&profile).into_keys()), ["add;main"]);
}

#[test]
fn limits_are_named_when_they_are_reached() {
    let folded: String = (0..100).map(|n| format!("a;b{n} 2\n")).collect();
    let with = |limits| read_with(folded.as_bytes(), &Options { limits, ..Options::default() });
    let limits = Limits::default();
    let error = with(Limits { contexts: 50, ..limits }).unwrap_err().to_string();
    assert!(error.contains("more than 50 calling contexts; record for a shorter"), "{error}");
    let error = with(Limits { name_bytes: 50, ..limits }).unwrap_err().to_string();
    assert!(error.contains("more than 50 bytes of names"), "{error}");
    let some_longer = format!("{}a;b123 2\n", "a;b1 2\n".repeat(9));
    let options = Options { limits: Limits { line_bytes: 6, ..limits }, ..Options::default() };
    let profile = read_with(some_longer.as_bytes(), &options).unwrap();
    assert!(matches!(profile.remarks[..], [Remark::Skipped { count: 1, first: 10, .. }]));
    let error = with(Limits { depth: 1, ..limits }).unwrap_err().to_string();
    assert!(error.contains(":1: the stack is too deep"), "{error}");
    let many: String =
        (0..9).map(|n| sample(n, "main").replace("cycles", &format!("event-{n}"))).collect();
    let options = Options { limits: Limits { events: 4, ..limits }, ..Options::default() };
    let profile = read_with(many.as_bytes(), &options).unwrap();
    let [Remark::OtherEvents { left_out }, Remark::Skipped { count: 5, .. }] = &profile.remarks[..]
    else {
        panic!("{:?}", profile.remarks);
    };
    assert_eq!(left_out, &["event-1", "event-2", "event-3"]);
}

/// A profile with three samples in three functions.
fn profile() -> Profile {
    let mut profile = Profile::go();
    for (number, name) in ["main", "work", "idle"].into_iter().enumerate() {
        let (name, object) = (name.to_owned(), "/bin/app".to_owned());
        let function = Function { name, object, origin: Origin::User };
        let location = profile.at(&function, 0x4000 + number as u64);
        let value = vec![1, 10_000_000];
        profile.sample.push(Sample { location_id: vec![location], value, label: Vec::new() });
    }
    profile
}

fn read_profile(profile: &Profile) -> Result<SampledProfile, ReadError> {
    read_bytes(&profile.encode_to_vec())
}

fn skipped(profile: &SampledProfile) -> (u64, &str) {
    match &profile.remarks[..] {
        [Remark::Skipped { count, what, .. }] => (*count, what),
        remarks => panic!("{remarks:?}"),
    }
}

#[test]
fn numbers_in_a_protocol_buffer_that_point_nowhere() {
    let mut broken = profile();
    broken.sample[1].location_id[0] = 77;
    let read = read_profile(&broken).unwrap();
    assert_eq!(skipped(&read), (1, "a sample at a location that is not there"));
    assert_eq!(read.total().samples, 2);

    let mut broken = profile();
    broken.location[1].line[0].function_id = 77;
    let read = read_profile(&broken).unwrap();
    assert_eq!(skipped(&read), (1, "a location in a function that is not there"));
    assert_eq!(samples(&read).get("[unknown]"), Some(&1));

    let mut broken = profile();
    broken.function[1].name = -4;
    broken.function[1].system_name = i64::MAX;
    let read = read_profile(&broken).unwrap();
    assert_eq!(skipped(&read), (2, "a function whose name is not there"));

    let mut broken = profile();
    broken.location[1].mapping_id = 77;
    let read = read_profile(&broken).unwrap();
    assert_eq!(skipped(&read), (1, "a location in a mapping that is not there"));
    assert_eq!(read.total().samples, 3);

    let mut broken = profile();
    broken.sample[0].value = vec![-1, -10_000_000];
    broken.sample[1].value.pop();
    let read = read_profile(&broken).unwrap();
    assert_eq!(skipped(&read), (2, "a sample below zero; a difference of profiles cannot be read"));

    let mut broken = profile();
    broken.sample_type.clear();
    let error = read_profile(&broken).unwrap_err().to_string();
    assert!(error.contains("does not say what its samples count; nothing in"), "{error}");

    let mut broken = profile();
    broken.sample.iter_mut().for_each(|sample| sample.location_id.clear());
    let error = read_profile(&broken).unwrap_err().to_string();
    assert!(error.contains("3 samples, none with a stack"), "{error}");

    let options = Options { event: Some("wall".to_owned()), ..Options::default() };
    let error = read_with(&profile().encode_to_vec(), &options).unwrap_err().to_string();
    assert!(error.contains("no samples of event \"wall\"; there are: samples, cpu"), "{error}");
}

#[test]
fn a_location_has_its_innermost_function_first() {
    let mut file = profile();
    let (outer, inner) = (file.named("outer"), file.named("inner"));
    let line = [inner, outer].map(|function_id| Line { function_id, line: 1 }).to_vec();
    file.location.push(Location { id: 900, mapping_id: 1, address: 0x5000, line });
    file.sample[0].location_id.insert(0, 900);
    let read = read_profile(&file).unwrap();
    assert_eq!(samples(&read).get("main;outer;inner"), Some(&1));
    assert!(read.remarks.is_empty());
}

#[test]
fn other_sample_types() {
    let mut heap = profile();
    heap.period_type = None;
    let types = [("inuse_objects", "count"), ("inuse_space", "bytes")];
    heap.sample_type = types
        .map(|(kind, unit)| ValueType {
            kind: heap.string(kind.as_bytes()),
            unit: heap.string(unit.as_bytes()),
        })
        .to_vec();
    let read = read_profile(&heap).unwrap();
    assert_eq!(read.unit, Unit::Events("inuse_space".to_owned()));
    assert_eq!((read.total().samples, read.total().weight), (3, 30_000_000));
    let left_out = vec!["inuse_objects".to_owned()];
    assert_eq!(read.remarks, [Remark::OtherEvents { left_out }]);

    // Without numbers of samples they follow from the period.
    let mut alone = profile();
    alone.sample_type.remove(0);
    alone.sample.iter_mut().for_each(|sample| sample.value = vec![40_000_000]);
    let read = read_profile(&alone).unwrap();
    assert_eq!((read.total().samples, read.total().weight), (12, 120_000_000));
}

#[test]
fn a_protocol_buffer_that_was_cut() {
    let bytes = profile().encode_to_vec();
    // The strings are there, what comes behind them is not whole.
    let read = read_bytes(&bytes[..bytes.len() - 2]).unwrap();
    assert!(matches!(read.remarks[..], [Remark::Truncated { .. }]), "{:?}", read.remarks);
    let packed = gzip(&bytes);
    assert!(read_bytes(&packed[..packed.len() - 4]).unwrap().remarks.len() == 1);
    let limits = Limits { message_bytes: bytes.len() - 1, ..Limits::default() };
    let error = read_with(&bytes, &Options { limits, ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("bytes of a pprof profile, unpacked"), "{error}");
}
