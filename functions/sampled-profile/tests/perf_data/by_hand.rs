//! What a recording may have and cannot be made to have.

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::perf_data::{Options, PerfDataError, is_perf_data};
use kilocore_sampled_profile::{Origin, Rate, Remark, SampledProfile, Unit};

use crate::builder::sample_type::{
    BRANCH_STACK, CALLCHAIN, CPU, IDENTIFIER, IP, PERIOD, READ, TID, TIME,
};
use crate::builder::{Bytes, Event, File, kind, mode};
use crate::{options, read, truncation, try_read};

const MARK_KERNEL: u64 = -128_i64 as u64;
const MARK_USER: u64 = -512_i64 as u64;

/// Objects and names of all stacks, from the outermost function on, with their weights.
fn stacks(profile: &SampledProfile) -> Vec<(Vec<(String, String)>, u64)> {
    let sampled = profile.contexts.iter().filter(|(_, context)| context.own.samples > 0);
    let mut stacks: Vec<_> = sampled
        .map(|(id, context)| {
            let stack = profile.contexts.stack(id).map(|function| profile.functions.get(function));
            let mut stack: Vec<_> = stack.map(|f| (f.object.clone(), f.name.clone())).collect();
            stack.reverse();
            (stack, context.own.weight)
        })
        .collect();
    stacks.sort();
    stacks
}

fn skipped(profile: &SampledProfile) -> u64 {
    let count = |remark: &Remark| match remark {
        Remark::Skipped { count, .. } => *count,
        _ => 0,
    };
    profile.remarks.iter().map(count).sum()
}

/// Samples with a call chain, in a byte order.
fn chains(big_endian: bool) -> File {
    let file = File::new(Event::cpu_clock(IP | TID | TIME | CPU | PERIOD | CALLCHAIN));
    let file = if big_endian { file.big_endian() } else { file };
    let sample = |time: u64, processor: u32, period: u64, chain: &[u64]| {
        let chain = chain.to_vec();
        move |bytes: Bytes| {
            let bytes = bytes.u64(0x1005).u32(7).u32(8).u64(time).u32(processor).u32(0);
            bytes.u64(period).u64(chain.len() as u64).u64s(&chain)
        }
    };
    file.map(7, 0x1000, 0x1000, 0, "/nowhere/program")
        .map(7, 0x2000, 0x1000, 0, "/nowhere/library")
        .sample(mode::USER, sample(50, 3, 10, &[MARK_USER, 0x1005, 0x2000]))
        .sample(mode::KERNEL, sample(20, 4, 20, &[MARK_KERNEL, 0xffff_0000, MARK_USER, 0x2000]))
}

#[test]
fn both_byte_orders_say_the_same() {
    let (little, big) = (read(&chains(false).file()), read(&chains(true).file()));
    assert_eq!(stacks(&little), stacks(&big));
    assert_eq!(little.facts, big.facts);
    assert_eq!(little.facts.processors, [3, 4].into());
    assert_eq!((little.facts.span, little.facts.threads), (Some(Nanoseconds(30)), 1));
    let function = |object: &str| (object.to_owned(), "[unknown]".to_owned());
    // A return address at the start of the library is behind a call at the end of the program.
    let program = function("/nowhere/program");
    let expected = [
        (vec![function("/nowhere/library"), function("[kernel.kallsyms]")], 20),
        (vec![program.clone(), program], 10),
    ];
    assert_eq!(stacks(&little), expected);
}

#[test]
fn who_ran_decides_the_origin() {
    let file = File::new(Event::cpu_clock(IP | TID));
    let at = |bytes: Bytes| bytes.u64(0x1005).u32(7).u32(7);
    let file = file
        .sample(mode::HYPERVISOR, at)
        .sample(mode::GUEST_KERNEL, at)
        .sample(mode::GUEST_USER, at)
        .sample(mode::USER, at)
        .sample(0, at);
    let profile = read(&file.file());
    let mut functions: Vec<(&str, Origin)> =
        profile.functions.iter().map(|(_, f)| (&*f.object, f.origin)).collect();
    functions.sort();
    let expected = [
        ("", Origin::User),
        ("", Origin::Unknown),
        ("[guest.kernel.kallsyms]", Origin::Kernel),
        ("[guest]", Origin::User),
        ("[hypervisor]", Origin::Kernel),
    ];
    assert_eq!(functions, expected);
    assert_eq!((profile.unit.clone(), profile.total().weight), (Unit::Nanoseconds, 5000));
    assert_eq!(profile.facts.rate, Some(Rate::Period(1000)));
}

#[test]
fn losses_and_throttling_are_counted() {
    let file = File::new(Event::cpu_clock(IP));
    let bytes = || file.bytes();
    let file = file
        .clone()
        .record(kind::LOST, 0, bytes().u64s(&[1, 40]))
        .record(kind::LOST, 0, bytes().u64s(&[1, 2]))
        // Newer kernels count the same losses once more at the end.
        .record(kind::LOST_SAMPLES, 0, bytes().u64(42))
        .record(kind::THROTTLE, 0, bytes().u64s(&[5, 1, 1]))
        .sample(mode::USER, |bytes| bytes.u64(1));
    let profile = read(&file.file());
    assert_eq!((profile.facts.lost, profile.facts.throttled), (42, 1));
    assert_eq!(profile.total().samples, 1);
}

#[test]
fn branches_that_are_calls_are_the_stack() {
    const CALL_STACK: u64 = 1 << 11;
    let event = Event::cpu_clock(IP | TID | CALLCHAIN | BRANCH_STACK);
    let sample = |bytes: Bytes| {
        let bytes = bytes.u64(0x1005).u32(7).u32(7).u64(2).u64s(&[MARK_USER, 0x1005]);
        // From, to and flags of each.
        bytes.u64(2).u64s(&[0x2000, 0x1000, 0, 0x3000, 0x2000, 0])
    };
    let file = |event| {
        File::new(event)
            .map(7, 0x1000, 0x1000, 0, "/a")
            .map(7, 0x2000, 0x1000, 0, "/b")
            .map(7, 0x3000, 0x1000, 0, "/c")
            .sample(mode::USER, sample)
    };
    let objects = |event| {
        let stacks = stacks(&read(&file(event).file()));
        stacks[0].0.iter().map(|(object, _)| object.clone()).collect::<Vec<String>>()
    };
    assert_eq!(objects(Event { branches: CALL_STACK, ..event }), ["/c", "/b", "/a"]);
    // Other branches are where the program came from, and no callers.
    assert_eq!(objects(event), ["/a"]);
}

#[test]
fn parts_of_the_kernel_are_told_apart() {
    let file = File::new(Event::cpu_clock(IP));
    let map = |file: File, start: u64, path: &str| {
        let body = file.bytes().u32(u32::MAX).u32(0).u64s(&[start, 0x1000, start]).name(path);
        file.record(kind::MMAP, mode::KERNEL, body)
    };
    let file = map(file, 0xffff_ffff_c000_0000, "[nf_tables]");
    let file = map(file, 0xffff_ffff_c000_1000, "/lib/modules/6.1/kernel/snd-seq.ko.xz");
    let loaded = file.bytes().u64(0xffff_ffff_c000_2000).u32(64).u16(1).u16(0);
    let file = file.record(kind::KSYMBOL, 0, loaded.name("bpf_prog_1234"));
    let at = |address: u64| move |bytes: Bytes| bytes.u64(address);
    let file = file
        .sample(mode::KERNEL, at(0xffff_ffff_c000_0010))
        .sample(mode::KERNEL, at(0xffff_ffff_c000_1010))
        .sample(mode::KERNEL, at(0xffff_ffff_c000_2010));
    let profile = read(&file.file());
    let mut functions: Vec<(&str, &str)> =
        profile.functions.iter().map(|(_, f)| (&*f.object, &*f.name)).collect();
    functions.sort_unstable();
    let expected =
        [("[bpf]", "bpf_prog_1234"), ("[nf_tables]", "[unknown]"), ("[snd_seq]", "[unknown]")];
    assert_eq!(functions, expected);
    assert!(profile.facts.has_kernel);
}

#[test]
fn samples_of_several_events_are_told_apart_by_their_ids() {
    let cycles = Event { kind: 0, config: 0, ..Event::cpu_clock(IDENTIFIER | IP) };
    // Samples that say no period, of an event whose period varies, are all there is to count.
    let faults = Event { config: 2, period: 0, ..Event::cpu_clock(IDENTIFIER | IP | TID) };
    // More ids than fit into a record.
    let many: Vec<u64> = (100..20_000).collect();
    let file = File::of_events(&[(cycles, &many), (faults, &[5])]);
    let file = file
        .sample(mode::USER, |bytes| bytes.u64(19_999).u64(1))
        .sample(mode::USER, |bytes| bytes.u64(100).u64(1))
        .sample(mode::USER, |bytes| bytes.u64(5).u64(1).u32(7).u32(7));
    let profile = read(&file.file());
    assert_eq!((profile.total().samples, profile.total().weight), (2, 2000));
    assert_eq!(profile.unit, Unit::Events("cycles".to_owned()));
    let left_out = vec!["page-faults".to_owned()];
    assert_eq!(profile.remarks, [Remark::OtherEvents { left_out }]);
    let wanted = Options { event: Some("page-faults".to_owned()), ..options() };
    let profile = try_read(&file.file(), &wanted).expect("it has one");
    assert_eq!((profile.total().weight, profile.unit), (1, Unit::Samples));
}

#[test]
fn counters_of_groups_are_left_out() {
    const ID: u64 = 4;
    const GROUP: u64 = 8;
    const LOST: u64 = 16;
    let event = Event { read_format: GROUP | ID | LOST, ..Event::cpu_clock(IP | READ | CALLCHAIN) };
    let file = File::new(event).sample(mode::KERNEL, |bytes| {
        let counters = [2, 11, 1, 0, 22, 2, 0];
        bytes.u64(0x10).u64s(&counters).u64(2).u64s(&[MARK_KERNEL, 0x10])
    });
    let profile = read(&file.file());
    assert_eq!((skipped(&profile), stacks(&profile)[0].0.len()), (0, 1));
}

#[test]
fn sizes_are_not_believed() {
    let file = File::new(Event::cpu_clock(IP | CALLCHAIN));
    let chain = |length: u64| move |bytes: Bytes| bytes.u64(0x10).u64(length).u64(0x10);
    let map = file.bytes().u32(7).u32(7).u64s(&[0, 10, 0]).raw(&[99; 24]).u32(5).u32(0);
    let file = file
        .sample(mode::USER, chain(1 << 61))
        .sample(mode::USER, chain(u64::MAX))
        // A build id of 99 bytes.
        .record(kind::MMAP2, mode::USER | 1 << 14, map.name("/x"))
        .sample(mode::USER, chain(1));
    let profile = read(&file.file());
    assert_eq!((skipped(&profile), profile.total().samples), (3, 1));

    let mut features = file.clone();
    features.features = vec![(3, features.bytes().u32(u32::MAX).raw(b"host").bytes)];
    assert_eq!(read(&features.file()).total().samples, 1);
    // The section itself reaches beyond the file.
    let mut bytes = features.file();
    let entry = File::FIRST_RECORD + file.records.len();
    bytes[entry + 8..entry + 16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(truncation(&read(&bytes)).map(|(at, _)| at), Some(bytes.len() as u64));

    // The header: sizes of events, their place, the place of the records.
    for (at, expected) in
        [(16, "size of events"), (24, "before its events"), (32, "before its events")]
    {
        let mut bytes = file.file();
        bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        let message = try_read(&bytes, &options()).expect_err("it makes no sense").to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_name_of_the_processor_states_its_clock_unless_it_is_a_hybrid_one() {
    const PROCESSOR: u32 = 8;
    const KINDS_OF_CORES: u32 = 30;
    for big_endian in [false, true] {
        let mut file = chains(big_endian);
        assert_eq!(read(&file.file()).facts.clock_ghz, None);
        let name = b"Intel(R) Xeon(R) CPU @ 2.60GHz\0";
        let name = file.bytes().u32(name.len() as u32).raw(name).bytes;
        file.features = vec![(PROCESSOR, name)];
        assert_eq!(read(&file.file()).facts.clock_ghz, Some(2.6));
        file.features.push((KINDS_OF_CORES, file.bytes().u32(2).bytes));
        assert_eq!(read(&file.file()).facts.clock_ghz, None);
    }
}

#[test]
fn what_is_compressed_beyond_measure_is_not_expanded() {
    let zeros = vec![0; 200 << 20];
    let mut compressed = vec![0; 60_000];
    let size = zstd_safe::compress(&mut compressed[..], &zeros, 3).expect("it shrinks");
    drop(zeros);
    let file = File::new(Event::cpu_clock(IP)).sample(mode::USER, |bytes| bytes.u64(1));
    let bomb = file.bytes().raw(&compressed[..size]);
    let profile = read(&file.record(kind::COMPRESSED, 0, bomb).file());
    let (_, what) = truncation(&profile).expect("it ends there");
    assert!(what.contains("beyond measure") && what.contains("without -z"), "{what}");
    assert_eq!(profile.total().samples, 1);
}

#[test]
fn other_compression_is_said() {
    let file = File::new(Event::cpu_clock(IP)).sample(mode::USER, |bytes| bytes.u64(1));
    let body = file.bytes().u64(0);
    let mut file = file.record(kind::COMPRESSED, 0, body);
    file.features = vec![(27, file.bytes().u32(1).u32(9).u32(1).u32(1).u32(4096).bytes)];
    let profile = read(&file.file());
    let (_, what) = truncation(&profile).expect("it ends there");
    assert!(what.contains("way 9") && what.contains("without -z"), "{what}");
}

#[test]
fn what_is_not_for_here_is_passed_over() {
    let file = File::new(Event::cpu_clock(IP));
    // A trace of the processor: a record, and behind it as much as it says.
    let trace = file.bytes().u64s(&[24, 0, 0, 0, 0]);
    let mut file = file.record(kind::AUXTRACE, 0, trace);
    file.records.extend([0xff; 24]);
    let round = file.bytes();
    let file = file.record(kind::FINISHED_ROUND, 0, round).sample(mode::USER, |bytes| bytes.u64(1));
    let profile = read(&file.file());
    assert_eq!((profile.total().samples, truncation(&profile)), (1, None));
}

#[test]
fn an_unfinished_file_is_read_to_its_end() {
    let file = File::new(Event::cpu_clock(IP))
        .sample(mode::USER, |bytes| bytes.u64(1))
        .sample(mode::USER, |bytes| bytes.u64(1));
    let mut bytes = file.file();
    // perf writes the size of the records last.
    bytes[48..56].fill(0);
    let profile = read(&bytes);
    assert_eq!(profile.total().samples, 2);
    let (at, what) = truncation(&profile).expect("it was not ended");
    assert_eq!(at, bytes.len() as u64);
    assert!(what.contains("did not end"), "{what}");
    bytes.truncate(bytes.len() - 1);
    let (at, what) =
        truncation(&read(&bytes)).map(|(at, what)| (at, what.to_owned())).expect("it is cut");
    assert_eq!(at, bytes.len() as u64 - 15);
    assert!(what.contains("breaks off"), "{what}");
}

#[test]
fn what_is_no_recording_is_said() {
    let error = |bytes: &[u8]| try_read(bytes, &options()).expect_err("it is none");
    assert!(matches!(error(b""), PerfDataError::NotPerfData));
    assert!(matches!(error(b"main;f 7\n"), PerfDataError::NotPerfData));
    assert!(matches!(error(b"PERFFILE and so on"), PerfDataError::Version1));
    assert!(matches!(error(b"PERFILE2"), PerfDataError::Header { .. }));
    let mut bytes = File::new(Event::cpu_clock(IP)).file();
    // Records are in a directory beside it.
    bytes[72 + 3] = 1;
    assert!(matches!(error(&bytes), PerfDataError::Directory));
    assert!(is_perf_data(&bytes) && !is_perf_data(b"main;f 7\n"));
}
