//! A real program whose threads spin by reading alone. It says itself how long they did.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::ThreadTimes;
use kilocore_lock_watcher::{Options, Pid, ProcessScope, possible, watch};

/// Threads that meet so often at a barrier which only reads a word until it changes. All but one come
/// early. It says what share of its processor time was spent there, in per cent.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { THREADS = 3 };
static int rounds;
static atomic_int arrived, phase;
static _Atomic long spun, all;
static long cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
__attribute__((noinline)) static int before_is(int before) { return phase == before; }
__attribute__((noinline)) void planted_barrier(void) {
    int before = atomic_load(&phase);
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&phase, 1);
    } else {
        while (atomic_load_explicit(&phase, memory_order_acquire) == before);
    }
}
static void *work(void *late) {
    long here = 0, begin = cpu();
    for (int i = 0; i < rounds; i++) {
        long from = cpu();
        while (late && cpu() - from < 2000000);
        from = cpu();
        planted_barrier();
        here += cpu() - from;
    }
    spun += here;
    all += cpu() - begin;
    return NULL;
}
int main(int count, char **arguments) {
    rounds = atoi(arguments[1]);
    pthread_t them[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(them + i, NULL, work, (void *)(long)(i == 0));
    for (int i = 0; i < THREADS; i++) pthread_join(them[i], NULL);
    printf("%ld\n", spun * 100 / all);
    return 0;
}
"#;

/// The same with a function that looks, and with the turns counted.
const CALLED: &str =
    "long turns = 0; while (before_is(before)) turns++; __asm__ volatile(\"\" ::\"r\"(turns));";

#[test]
fn threads_that_spin_by_reading_alone_are_told_from_those_that_compute() {
    told(PROGRAM, "-O2");
    told(PROGRAM, "-O0");
    let plain = "while (atomic_load_explicit(&phase, memory_order_acquire) == before);";
    assert!(PROGRAM.contains(plain));
    told(&PROGRAM.replace(plain, CALLED), "-O0");
}

/// How often the threads meet, and how often at most if nothing is said of a shorter run. Who attaches may
/// take a hundredth of the cores, and that may be too little of a second beside other work.
const ROUNDS: u32 = 400;
const MOST_ROUNDS: u32 = 16 * ROUNDS;

/// Watches the program, compiled so.
fn told(program: &str, level: &str) {
    // Not every user may watch whole cores, nor every kernel shows them.
    if possible().is_err() {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room");
    let (source, built) = (folder.path().join("planted.c"), folder.path().join("planted"));
    fs::write(&source, program).expect("there is room");
    let mut compiler = Command::new("gcc");
    compiler.args([level, "-pthread", "-o"]).args([&built, &source]);
    assert!(compiler.status().expect("there is a compiler").success());
    let mut rounds = ROUNDS;
    let (times, truth) = loop {
        let (times, truth) = watched(&built, rounds);
        if !times.findings.is_empty() || rounds >= MOST_ROUNDS {
            break (times, truth);
        }
        rounds *= 4;
    };
    assert!(truth > 20.0, "all but one come early, so that much is spun: {truth} %");

    let findings: Vec<String> = times.findings.iter().map(ToString::to_string).collect();
    let spins = findings.iter().find(|said| said.starts_with("Spinning: "));
    let places = ["most in planted_barrier in planted.", "most in before_is in planted."];
    let is_named = |said: &String| places.iter().any(|place| said.ends_with(place));
    assert!(spins.is_some_and(is_named), "spun {truth} % in {rounds} rounds: {times:?}");
    assert!(!findings.iter().any(|said| said.starts_with("No contention")), "{findings:?}");
    assert!(
        times.total().working() > Nanoseconds(0),
        "the one that comes late computes: {times:?}"
    );
}

/// Where its time went, as it was watched, and which part it says was spun, in per cent.
fn watched(built: &Path, rounds: u32) -> (ThreadTimes, f64) {
    let mut program = Command::new(built);
    let child = program.arg(rounds.to_string()).stdout(Stdio::piped()).spawn();
    let child = child.expect("it was just built");
    let options = Options { scope: ProcessScope::Alone, attached: true, library: None, seed: 1 };
    let mut wait = |time| {
        std::thread::sleep(time);
        false
    };
    let run = watch(Pid(child.id()), &options, &mut wait).expect("it may be watched");
    let said = child.wait_with_output().expect("it ends").stdout;
    let truth = String::from_utf8_lossy(&said).trim().parse().expect("the program says it");
    (run.times.expect("it was watched"), truth)
}
