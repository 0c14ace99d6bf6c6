//! What the planted programs in Rust share. See `../c/planted.h` for what a program does.

use std::io::{BufRead, Read, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static START: OnceLock<Instant> = OnceLock::new();

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Wanted {
    threads: u64,
    hold: Duration,
    think: Duration,
    run: Duration,
    idle_start: bool,
}

/// A thread, and what it did.
#[derive(Debug)]
pub(crate) struct Worker<'wanted> {
    wanted: &'wanted Wanted,
    random: u64,
    acquisitions: u64,
    hold: Duration,
    hold_wall: Duration,
    thinks: u64,
    think: Duration,
    per_second: Vec<u64>,
}

fn thread_clock() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local that the call fills; the clock exists on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn xorshift(mut random: u64) -> u64 {
    random ^= random << 13;
    random ^= random >> 7;
    random ^ random << 17
}

/// Computes until the calling thread has run for `wanted` more. Returns for how long it ran.
fn compute(wanted: Duration) -> Duration {
    if wanted.is_zero() {
        return wanted;
    }
    let (start, mut work) = (thread_clock(), 1);
    loop {
        for _ in 0..200 {
            work = std::hint::black_box(xorshift(work));
        }
        let ran = thread_clock() - start;
        if ran >= wanted {
            return ran;
        }
    }
}

impl Worker<'_> {
    /// The work of one section, to be done while the lock is held.
    pub(crate) fn hold(&mut self) {
        let taken = Instant::now();
        self.hold += compute(self.wanted.hold);
        self.hold_wall += taken.elapsed();
        self.acquisitions += 1;
        let second = (taken - *START.get().expect("threads start after that")).as_secs();
        if let Some(count) = self.per_second.get_mut(second as usize) {
            *count += 1;
        }
    }

    /// Computes for THINK_US, give or take a half.
    pub(crate) fn think(&mut self) {
        self.random = xorshift(self.random);
        let part = 0.5 + (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        self.think += compute(self.wanted.think.mul_f64(part));
        self.thinks += 1;
    }

    /// Whether the time is over, or the program is to end.
    pub(crate) fn over(&self) -> bool {
        let start = START.get().expect("threads start after that");
        STOP.load(Ordering::Relaxed) || start.elapsed() >= self.wanted.run
    }
}

extern "C" fn terminate(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
    if START.get().is_none() {
        // Who still waits for a line of input has no truth to tell.
        // SAFETY: the call is made for signal handlers.
        unsafe { libc::_exit(143) }
    }
}

fn refuse(message: &str) -> ! {
    eprintln!("planted: {message}");
    std::process::exit(2)
}

fn number(text: &str, most: f64) -> f64 {
    match text.parse() {
        Ok(number) if (0.0..=most).contains(&number) => number,
        _ => refuse(&format!("{text} is no number from 0 to {most}")),
    }
}

fn wanted() -> Wanted {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (threads, hold, think, run, idle_start) = match words[..] {
        [threads, hold, think, run] => (threads, hold, think, run, false),
        [threads, hold, think, run, "--idle-start"] => (threads, hold, think, run, true),
        _ => refuse("usage: PROGRAM THREADS HOLD_US THINK_US SECONDS [--idle-start]"),
    };
    Wanted {
        threads: number(threads, 1000.0).max(1.0) as u64,
        hold: Duration::from_secs_f64(number(hold, 1e9) / 1e6),
        think: Duration::from_secs_f64(number(think, 1e9) / 1e6),
        run: Duration::from_secs_f64(number(run, 3600.0)),
        idle_start,
    }
}

fn mean(sum: Duration, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum.as_nanos() as f64 / count as f64 }
}

/// The whole run of a program: `body` in each thread, and then the truth.
pub(crate) fn run<T>(name: &str, lock: &T, body: fn(&mut Worker)) {
    let wanted = &wanted();
    let action = terminate as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler uses atomics only, and `_exit`.
    unsafe { libc::signal(libc::SIGTERM, action) };
    // Closed, it lets all threads start: they wait for no futex.
    let (gate, open) = std::io::pipe().expect("there are pipes");
    let workers: Vec<Worker> = std::thread::scope(|scope| {
        let started: Vec<_> = (1..=wanted.threads)
            .map(|number| {
                let mut gate = gate.try_clone().expect("a descriptor more");
                let mut worker = Worker {
                    wanted,
                    random: 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number),
                    acquisitions: 0,
                    hold: Duration::ZERO,
                    hold_wall: Duration::ZERO,
                    thinks: 0,
                    think: Duration::ZERO,
                    per_second: vec![0; wanted.run.as_secs() as usize + 60],
                };
                scope.spawn(move || {
                    gate.read_to_end(&mut Vec::new()).expect("a pipe can be read");
                    body(&mut worker);
                    worker
                })
            })
            .collect();
        println!("ready {} {:p}", std::process::id(), lock);
        std::io::stdout().flush().expect("somebody reads");
        if wanted.idle_start {
            std::io::stdin().lock().read_line(&mut String::new()).expect("a line");
        }
        START.set(Instant::now()).expect("nobody else does");
        if wanted.idle_start {
            println!("begun");
        }
        drop(open);
        started.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    });
    tell(name, &workers);
}

fn tell(name: &str, workers: &[Worker]) {
    let wall = START.get().expect("it was set").elapsed();
    let acquisitions = workers.iter().map(|worker| worker.acquisitions).sum();
    let thinks = workers.iter().map(|worker| worker.thinks).sum();
    let seconds: Vec<String> = (0..wall.as_secs() as usize)
        .map(|s| workers.iter().filter_map(|worker| worker.per_second.get(s)).sum::<u64>())
        .map(|count| count.to_string())
        .collect();
    println!(
        "{{\"language\":\"rust\",\"lock\":\"{name}\",\"threads\":{},\"acquisitions\":{acquisitions},\
         \"hold_ns_mean\":{:.1},\"hold_wall_ns_mean\":{:.1},\"think_ns_mean\":{:.1},\
         \"wall_ns\":{},\"per_second\":[{}]}}",
        workers.len(),
        mean(workers.iter().map(|worker| worker.hold).sum(), acquisitions),
        mean(workers.iter().map(|worker| worker.hold_wall).sum(), acquisitions),
        mean(workers.iter().map(|worker| worker.think).sum(), thinks),
        wall.as_nanos(),
        seconds.join(","),
    );
}
