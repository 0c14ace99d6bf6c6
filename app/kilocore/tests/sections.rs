//! `kilocore doctor --sections`: how often a program takes its locks is the work that is timed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use kilocore_lock_profile::{Profile, RUN, SECTION, Scaling, WhyNotTimed};
use tempfile::TempDir;

use crate::measured::{compiled, kilocore};

/// A program that runs for a set time. Two threads take a mutex and a third a read-write lock, each after a tenth of a
/// millisecond in which it computed. Before that, a forked child takes the mutex 1000 times and is killed, and another
/// one 2000 times and leaves by `_exit`, as the program itself does. It appends to a file how often all of them have
/// taken a lock.
const SET_TIME: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static double end;
static double now_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static double now(void) { return now_of(CLOCK_MONOTONIC); }
static void compute(void) {
    double over = now_of(CLOCK_THREAD_CPUTIME_ID) + 1e-4;
    while (now_of(CLOCK_THREAD_CPUTIME_ID) < over) {}
}
static void *takes(void *taken) {
    while (now() < end) {
        compute();
        pthread_mutex_lock(&lock);
        ++*(long *)taken;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
static void *reads(void *taken) {
    while (now() < end) {
        compute();
        if (pthread_rwlock_tryrdlock(&table)) continue;
        ++*(long *)taken;
        pthread_rwlock_unlock(&table);
    }
    return NULL;
}
int main(int count, char **words) {
    end = now() + atof(words[2]);
    volatile long *children = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int child = 0; child < 2; child++) {
        if (fork() == 0) {
            for (int i = 0; i < 1000 * (child + 1); i++) {
                pthread_mutex_lock(&lock);
                children[child]++;
                pthread_mutex_unlock(&lock);
            }
            if (child) _exit(0);
            kill(getpid(), SIGKILL);
        }
        wait(NULL);
    }
    long taken[3] = {0};
    pthread_t threads[3];
    pthread_create(threads, NULL, takes, taken);
    pthread_create(threads + 1, NULL, takes, taken + 1);
    pthread_create(threads + 2, NULL, reads, taken + 2);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    FILE *file = fopen(words[1], "a");
    fprintf(file, "%ld\n", taken[0] + taken[1] + taken[2] + children[0] + children[1]);
    fclose(file);
    _exit(0);
}
"#;

/// A program that takes a lock three times, and computes.
const HARDLY: &str = r#"
#include <pthread.h>
int main(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    volatile long sum = 0;
    for (int i = 0; i < 3; i++) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
    for (int i = 0; i < 100000000; i++) sum += i;
}
"#;

/// What `doctor` with these options measured of a program, and what it said. `None` if there are too few cores.
fn doctor(folder: &TempDir, options: &[&str], program: &[&Path]) -> Option<(Scaling, String)> {
    let keep = folder.path().join("kept.json");
    let mut command = kilocore();
    command.args(["doctor", "--machine", "xeon-e5345-2s", "--recorder", "preload", "--keep"]);
    let output = command.arg(&keep).args(options).arg("--").args(program).output();
    let Output { stdout, stderr, .. } = output.expect("it runs");
    let said = [&stdout, &stderr].map(|text| String::from_utf8_lossy(text));
    let said = said.concat().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(keep.exists(), "{said}");
    let scaling = Profile::read(&keep).expect("a profile").scaling.expect("it was to be timed");
    (scaling.why_not != Some(WhyNotTimed::OneCore)).then_some((scaling, said))
}

/// The program, and the file in which it writes its counts.
fn set_time(folder: &TempDir, options: &[&str]) -> [PathBuf; 2] {
    [compiled(folder, "set_time", SET_TIME, options), folder.path().join("counts")]
}

/// What the last runs have written, so many of them.
fn written(counts: &Path, runs: usize) -> Vec<f64> {
    let text = fs::read_to_string(counts).expect("each run has written");
    let all: Vec<f64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    all[all.len() - runs..].to_vec()
}

#[test]
fn sections_are_counted_in_each_timed_run_as_the_program_counts_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, counts] = set_time(&folder, &[]);
    let words = [&*program, &*counts, Path::new("0.5")];
    let Some((scaling, said)) = doctor(&folder, &["--sections", "--budget", "7s"], &words) else {
        return;
    };
    assert_eq!((&*scaling.unit, scaling.why_not), (SECTION, None), "{said}");
    assert!(said.contains("Throughput here, critical sections per second"), "{said}");
    assert!(said.contains("with a library under it that counts (measured)"), "{said}");
    let counted: Vec<f64> = scaling.runs.iter().map(|run| run.work).collect();
    assert!(counted.len() >= 4, "{said}");
    // The recorded runs came first.
    assert_eq!(counted, written(&counts, counted.len()));
    assert!(counted.iter().all(|count| *count > 3000.0), "{counted:?}");
}

#[test]
fn of_a_program_that_runs_for_a_set_time_sections_are_named_as_what_could_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, counts] = set_time(&folder, &[]);
    let words = [&*program, &*counts, Path::new("0.5")];
    let Some((scaling, said)) = doctor(&folder, &["--budget", "7s"], &words) else { return };
    assert_eq!(scaling.unit, RUN);
    assert!(scaling.runs.iter().all(|run| run.work == 1.0), "{said}");
    let busy = said.contains("Other programs had much of the cores");
    assert!(busy || said.contains("and `--sections` how often it takes its locks"), "{said}");
}

#[test]
fn there_is_no_curve_of_a_program_that_takes_no_locks_or_whose_locks_no_library_reaches() {
    let folder = tempfile::tempdir().expect("a folder");
    let hardly = compiled(&folder, "hardly", HARDLY, &[]);
    let [is_static, counts] = set_time(&folder, &["-static"]);
    for words in [&[&*hardly][..], &[&*is_static, &*counts, Path::new("0.1")]] {
        let Some((scaling, said)) = doctor(&folder, &["--sections"], words) else { return };
        assert_eq!(scaling.why_not, Some(WhyNotTimed::FewSections), "{said}");
        assert!(scaling.runs.is_empty(), "{said}");
        let why =
            "`--sections` counts pthread locks, and it took hardly any, or no library reaches";
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_count_that_is_not_whole_is_no_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, counts] = set_time(&folder, &[]);
    // No file may have more than so many blocks of 512 bytes, so that no recording can be begun.
    let script = folder.path().join("script");
    fs::write(&script, "ulimit -f 40; exec \"$@\"").expect("a folder of the test's own");
    let words = [Path::new("sh"), &*script, &*program, &*counts, Path::new("0.1")];
    let Some((scaling, said)) = doctor(&folder, &["--sections"], &words) else { return };
    assert_eq!(scaling.why_not, Some(WhyNotTimed::SectionsLost), "{said}");
    assert!(said.contains("could not count all locks that it took"), "{said}");
}

#[test]
fn sections_are_counted_in_windows_of_a_program_that_runs_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, counts] = set_time(&folder, &[]);
    let words = [&*program, &*counts, Path::new("600")];
    let options = ["--sections", "--confine", "--duration", "500ms", "--budget", "5s"];
    let Some((scaling, said)) = doctor(&folder, &options, &words) else { return };
    assert_eq!((&*scaling.unit, scaling.why_not), (SECTION, None), "{said}");
    assert!(said.contains("while it ran on, with a library under it that counts"), "{said}");
    assert!(scaling.windows && scaling.runs.len() >= 6, "{said}");
    for run in &scaling.runs {
        let computed = run.work * 1e5 / run.cpu_time.0;
        assert!((0.6..1.1).contains(&computed), "{computed}: {run:?}");
    }
}

#[test]
fn work_is_counted_in_one_way_only() {
    for words in [&["--work", "done", "--", "true"][..], &["--pid", "1"]] {
        let mut command = kilocore();
        let output = command.args(["doctor", "--sections"]).args(words).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("'--sections' cannot be used with") && said.contains(words[0]),
            "{said}"
        );
    }
}
