//! Threads that talk to each other by pipes, eventfds and sockets: their waits are simulated.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::thread;

use kilocore_emulation::{Asked, EmulateError, Point, emulate};
use kilocore_emulation_orders::Waits;
use kilocore_process::{Input, Output};

use crate::support::{emulator, on, orders, program, try_on};

/// The turns of two threads one after the other, and the turns of a loop of two instructions in each.
const TURNS: f64 = 100.0;
const WORK: f64 = 30_000.0;

/// What the program has found, and how many µs passed.
fn told(text: &str) -> (i64, f64) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [found, passed] = words[..] else { panic!("{text}") };
    (found.parse().expect("a number"), passed.parse().expect("a number"))
}

/// A run that is wholly simulated, so that its result is the same each time.
#[track_caller]
fn simulated(cores: u32, how: &str) -> (Point, i64, f64) {
    let (point, text) = on(cores, &program("pipes", &[]), &[how]);
    let (found, passed) = told(&text);
    assert_eq!(point.report.dependence.also, None, "{how}");
    assert_eq!(point.report.counts.outside, 0, "{how}");
    (point, found, passed)
}

/// How long one computes, in µs.
fn work_us() -> f64 {
    let orders = orders(2);
    WORK * 2.0 * orders.cycles_per_instruction / orders.machine.clock_ghz.value / 1e3
}

#[test]
fn threads_that_begin_while_others_wait_are_the_same_each_time() {
    let runs = BTreeSet::from([0; 4].map(|_| {
        let (point, read, _) = simulated(4, "many");
        assert_eq!(read, 1_600);
        point.report.end_ns.to_bits()
    }));
    assert_eq!(runs.len(), 1, "{runs:?}");
}

#[test]
fn what_is_moved_between_pipes_arrives() {
    let (point, text) = on(2, &program("pipes", &[]), &["moved"]);
    assert_eq!(told(&text).0, 1);
    assert!(point.report.counts.outside > 0, "that is not simulated");
}

#[test]
fn a_socket_gives_up_after_its_time() {
    let (point, text) = on(1, &program("pipes", &[]), &["pair-gives-up"]);
    let (got, passed) = told(&text);
    assert_eq!(point.report.counts.outside, 0);
    assert_eq!(got, -i64::from(libc::EAGAIN));
    // The kernel keeps it in ticks of its timer.
    assert!((10_000.0..14_100.0).contains(&passed), "{passed} µs");
}

#[test]
fn a_read_takes_as_long_as_what_it_got() {
    let (_, few, many) = simulated(1, "copies");
    // A write and a read of 30,000 bytes, of which the kernel copies eight in a cycle. A page is touched for the first time now
    // and then.
    let copied = TURNS * 2.0 * 30_000.0 / 8.0 / orders(1).machine.clock_ghz.value / 1e3;
    let more = many - few as f64;
    // Both are whole microseconds, so what is between them may be one less.
    assert!((copied - 1.0..1.2 * copied).contains(&more), "{more} µs for {copied}");
    // Two calls of some hundred cycles each.
    assert!((few as f64) < copied / 4.0, "{few} µs for {copied}");
}

#[test]
fn turns_take_what_they_compute_and_what_waking_takes() {
    for how in ["pipe", "event", "pair"] {
        let (point, turns, passed) = simulated(2, how);
        assert_eq!(turns as f64, TURNS, "{how}");
        let os = orders(2).machine.os;
        // Each turn of both computes twice and wakes twice. Whoever is woken goes on that much later.
        let wake = (os.wake_ns.value + os.wake_latency_ns.value) / 1e3;
        let over = passed / TURNS / 2.0 - work_us();
        assert!((0.5 * wake..2.0 * wake).contains(&over), "{how}: {over} µs, {wake}");
        let again = BTreeSet::from([1, 2].map(|_| {
            let (point, _, passed) = simulated(2, how);
            assert_eq!(passed, told(&on(2, &program("pipes", &[]), &[how]).1).1);
            point.report.end_ns.to_bits()
        }));
        assert_eq!(again, BTreeSet::from([point.report.end_ns.to_bits()]), "{how}");
    }
}

#[test]
fn the_chain_follows_who_writes_to_who_reads() {
    let (point, _, _) = simulated(2, "pipe");
    let chain = &point.causes.chain;
    let is = |place: &str, function: &str| place.contains(function);
    let times = |waiter: &str, waker: &str| -> u64 {
        let all = chain.hand_overs.iter().filter(|it| it.how == Waits::Woken);
        all.filter(|it| is(&it.waiter, waiter) && is(&it.waker, waker)).map(|it| it.count).sum()
    };
    let each = times("take", "give");
    assert_eq!(each as f64, 2.0 * TURNS, "{chain:?}");
    assert_eq!(chain.outside_ns, 0.0, "{chain:?}");
    let all: f64 = point.report.threads.iter().map(|it| it.working_ns).sum();
    assert!(all < 1.2 * point.report.end_ns, "one computes at a time");
}

#[test]
fn several_readers_of_a_pipe_share_what_is_written() {
    // Forty tasks for four workers, on a core each.
    let (point, most, passed) = simulated(5, "pool");
    assert!((10..=12).contains(&most), "{most}");
    let expected = 10.0 * work_us();
    assert!((expected..1.5 * expected).contains(&passed), "{passed} {expected}");
    assert_eq!(simulated(5, "pool").0.report.end_ns, point.report.end_ns);
    // With fewer cores, one that runs takes what another one was woken for.
    simulated(2, "pool");
}

#[test]
fn a_wait_without_an_end_ends_when_another_thread_writes() {
    for how in ["poll", "epoll", "select", "epoll-event"] {
        let (_, found, passed) = simulated(2, how);
        assert_eq!(found, 1, "{how}");
        assert!((10_000.0..10_100.0).contains(&passed), "{how}: {passed}");
    }
}

#[test]
fn a_writer_waits_for_room() {
    for how in ["blocks", "pair-blocks"] {
        let (point, found, _) = simulated(2, how);
        assert_eq!(found, 600_000, "{how}");
        assert_eq!(simulated(2, how).0.report.end_ns, point.report.end_ns, "{how}");
    }
}

#[test]
fn more_than_a_pipe_holds_is_written_outside() {
    for cores in [1, 4] {
        let (point, text) = on(cores, &program("pipes", &[]), &["large"]);
        assert_eq!(told(&text).0, 1 << 20);
        assert!(point.report.counts.outside > 0 && point.report.dependence.also.is_some());
    }
}

#[test]
fn threads_that_wait_for_each_other_by_pipes_are_a_deadlock() {
    let error = try_on(2, &program("pipes", &[]), &["stands"]).expect_err("it stands");
    let EmulateError::Failed { why, .. } = &error else { panic!("{error}") };
    assert!(why.contains("wait for ever: "), "{why}");
    assert!(why.contains("threads 1, 2 in take in "), "{why}");
}

/// Whether all threads of a process wait in the kernel, or it is gone.
fn all_sleep(process: i32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut states =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    states.all(|state| state.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S')))
}

#[test]
fn a_handler_of_a_signal_from_outside_may_end_such_a_wait() {
    let (reader, writer) = std::io::pipe().expect("descriptors");
    let sends = thread::spawn(move || {
        let mut lines = BufReader::new(reader).lines().map(|line| line.expect("text"));
        let process: i32 = lines.next().expect("a number").parse().expect("a number");
        // Its threads wait by then, so nobody of them can have written.
        let mut looks = 0;
        while looks < 1_000 {
            looks = if all_sleep(process) { looks + 1 } else { 0 };
            thread::yield_now();
        }
        // SAFETY: numbers; the process lives until it gets the signal.
        assert_eq!(unsafe { libc::kill(process, libc::SIGUSR1) }, 0);
        lines.next()
    });
    let output = Output::To { stdout: writer.as_fd(), stderr: writer.as_fd() };
    let words = [program("pipes", &[]).into(), "served".into()];
    let asked = Asked::from(orders(2));
    let point = emulate(&words, &asked, &emulator(), output, Input::Empty).expect("it ends");
    drop(writer);
    assert!(point.status.success());
    assert_eq!(sends.join().expect("it sends").as_deref(), Some("1 0"));
}

#[test]
fn descriptors_that_another_process_has_are_not_simulated() {
    let (point, text) = on(2, &program("pipes", &[]), &["child"]);
    assert_eq!(told(&text).0 as f64, TURNS);
    assert_eq!(point.report.counts.processes, 1);
    assert!(point.report.dependence.also.is_some());
}

#[test]
fn a_signal_is_handled_and_the_call_goes_on_or_is_interrupted() {
    // The signal comes after 10 ms, and something to read after 20.
    let eintr = -4;
    for (how, expected, after) in [
        ("signalled", 8, 20_000.0),
        ("interrupted", eintr, 10_000.0),
        ("interrupted-poll", eintr, 10_000.0),
    ] {
        let (point, found, passed) = simulated(2, how);
        assert_eq!(found, expected, "{how}");
        assert!((after..after + 200.0).contains(&passed), "{how}: {passed}");
        assert_eq!(simulated(2, how).0.report.end_ns, point.report.end_ns, "{how}");
    }
}

/// The program's output goes into a pipe of two pages, out of which somebody reads so many bytes at a time. Returns how many calls
/// it took to write, and how long.
fn into_a_small_pipe(at_a_time: usize) -> (i64, f64) {
    let (mut reader, writer) = std::io::pipe().expect("descriptors");
    // SAFETY: numbers.
    assert!(unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, 8_192) } == 8_192);
    let mut said = tempfile::tempfile().expect("there is room");
    let reads = thread::spawn(move || {
        let mut some = vec![0; at_a_time];
        while reader.read(&mut some).is_ok_and(|bytes| bytes > 0) {
            thread::yield_now();
        }
    });
    let output = Output::To { stdout: writer.as_fd(), stderr: said.as_fd() };
    let words = [program("pipes", &[]).into(), "says".into()];
    let asked = Asked::from(orders(2));
    let point = emulate(&words, &asked, &emulator(), output, Input::Empty).expect("it is emulated");
    assert!(point.status.success());
    drop(writer);
    reads.join().expect("it reads to the end");
    let mut text = String::new();
    said.rewind().expect("a file");
    said.read_to_string(&mut text).expect("text");
    (told(&text).0, point.report.end_ns)
}

#[test]
fn who_reads_the_output_slowly_changes_nothing() {
    // 50,000 bytes are seven times what the pipe holds, or less.
    let (calls, took) = into_a_small_pipe(1 << 16);
    assert_eq!(calls, 10 * 7);
    assert_eq!(into_a_small_pipe(64), (calls, took));
}
