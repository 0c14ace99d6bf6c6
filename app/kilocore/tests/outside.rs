//! What is seen of a program from outside.

#[path = "common/measured.rs"]
#[allow(dead_code)] // each test file uses its part
mod measured;

use measured::{Measured, compiled, kilocore, measure};

/// Threads that wait in known ways: three on a word of their own, two for a mutex, one for a
/// condition, one for another thread to end, one for time to pass; and one that computes.
const WAITS: &str = r#"
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int word;
static volatile int over;
static void *own(void *none) { while (!over) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0); return 0; }
static void *mutex(void *none) { pthread_mutex_lock(&held); pthread_mutex_unlock(&held); return 0; }
static void *wait_for(void *none) {
    pthread_mutex_lock(&other);
    while (!over) pthread_cond_wait(&condition, &other);
    pthread_mutex_unlock(&other);
    return 0;
}
static void *compute(void *none) { while (!over) ; return 0; }
static void *sleeps(void *none) {
    sleep(2);
    over = 1;
    pthread_mutex_unlock(&held);
    pthread_mutex_lock(&other);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&other);
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 100);
    return 0;
}
int main(void) {
    void *(*all[])(void *) = {own, own, own, mutex, mutex, wait_for, compute, sleeps};
    pthread_t threads[8];
    pthread_mutex_lock(&held);
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, all[i], 0);
    for (int i = 7; i >= 0; i--) pthread_join(threads[i], 0);
    return 0;
}
"#;

fn looks(measured: &Measured, path: &[&str]) -> f64 {
    let outside = &measured.run()["outside"];
    let value = path.iter().fold(outside, |value, name| &value[*name]);
    value.as_f64().unwrap_or(0.0)
}

#[test]
fn threads_are_seen_where_they_wait() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let program = compiled(&folder, "waits", WAITS, &[]);
    let measured = measure(kilocore(), &[program.to_str().unwrap()]);
    assert_eq!(measured.status, Some(0), "{measured:?}");
    let rounds = looks(&measured, &["rounds"]);
    assert!(rounds >= 3.0, "{measured:?}");
    assert_eq!(looks(&measured, &["threads_peak"]), 9.0, "{measured:?}");
    let seen = |name: &str| looks(&measured, &["futexes", name]) / rounds;
    // Each waits nearly as long as the program runs, but not quite.
    for (name, threads) in [("elsewhere", 3.0), ("locks", 2.0), ("conditions", 1.0), ("joins", 1.0)]
    {
        let seen = seen(name);
        assert!(seen > threads * 0.6 && seen < threads + 0.5, "{name}: {seen} in {measured:?}");
    }
    assert!(looks(&measured, &["running"]) > 0.0, "{measured:?}");
    // The one that computes does so alone.
    let awake = |name: &str| looks(&measured, &["awake", name]);
    assert_eq!(awake("rounds"), rounds, "{measured:?}");
    assert!(awake("one") > 0.6 * rounds, "{measured:?}");
    assert!(looks(&measured, &["asleep", "clock_nanosleep"]) > 0.0, "{measured:?}");
    assert!(looks(&measured, &["voluntary_switches"]) >= 8.0, "{measured:?}");
}

/// A mutex that is gone when the program ends was one all the same.
const DESTROYS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t *held;
static void *waits(void *none) { pthread_mutex_lock(held); pthread_mutex_unlock(held); return 0; }
int main(void) {
    pthread_t thread;
    held = malloc(sizeof *held);
    pthread_mutex_init(held, 0);
    pthread_mutex_lock(held);
    pthread_create(&thread, 0, waits, 0);
    sleep(2);
    pthread_mutex_unlock(held);
    pthread_join(thread, 0);
    pthread_mutex_destroy(held);
    free(held);
    return 0;
}
"#;

#[test]
fn locks_that_are_gone_in_the_end_explain_waits_as_well() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let program = compiled(&folder, "destroys", DESTROYS, &[]);
    let measured = measure(kilocore(), &[program.to_str().unwrap()]);
    let seen = |name: &str| looks(&measured, &["futexes", name]);
    assert!(seen("locks") > 10.0 * seen("elsewhere"), "{measured:?}");
}

#[test]
fn processes_that_come_and_go_are_seen() {
    let script = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); sleep 0.05 & sleep 0.05; done; wait";
    let measured = measure(kilocore(), &["sh", "-c", script]);
    assert_eq!(measured.status, Some(0), "{measured:?}");
    assert!(looks(&measured, &["threads_peak"]) >= 2.0, "{measured:?}");
    assert!(looks(&measured, &["asleep", "clock_nanosleep"]) > 0.0, "{measured:?}");
}

#[test]
fn hundreds_of_threads_are_counted_and_a_part_of_them_looked_at() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
static void *waits(void *none) { pause(); return 0; }
int main(void) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (int i = 0; i < 500; i++) pthread_create(&thread, &small, waits, 0);
    sleep(4);
    return 0;
}
"#;
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let program = compiled(&folder, "many", source, &[]);
    let measured = measure(kilocore(), &[program.to_str().unwrap()]);
    assert_eq!(looks(&measured, &["threads_peak"]), 501.0, "{measured:?}");
    // Of so many only some are looked at, so that nobody knows how many ran.
    assert!(looks(&measured, &["awake", "rounds"]) < 0.5 * looks(&measured, &["rounds"]));
    let paused = looks(&measured, &["asleep", "pause"]);
    let all: f64 = {
        let asleep = measured.run()["outside"]["asleep"].as_object().expect("a table");
        asleep.values().filter_map(serde_json::Value::as_f64).sum()
    };
    assert!(paused > 0.95 * all, "{paused} of {all}");
    let rounds = looks(&measured, &["rounds"]);
    assert!(all <= 501.0 * rounds, "{all} in {rounds} rounds");
}
