//! Costs of the operating system: futex calls, waking, switching and the time slice.
//!
//! Each loop is bounded in time, and every sleep has a timeout. If a measurement is lost on a busy
//! host, a sample is shorter, and nothing hangs.

use kilocore_figures::lower_median;

use crate::MeasureError;
use crate::gaps::{LONGEST_INTERRUPT, gaps};
use crate::pinned::Pinned;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Sleeps while the word holds `expected`, 20 ms at most. Processor and memory are as after any
/// system call; the caller looks at the word again.
pub(crate) fn futex_wait(word: &AtomicU32, expected: u32) {
    let timeout = libc::timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    // SAFETY: the word and the time outlive the call, which only reads them.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            &raw const timeout,
        )
    };
}

/// Wakes one sleeper; returns whether there was one.
pub(crate) fn futex_wake(word: &AtomicU32) -> bool {
    // SAFETY: the call uses the address of a word that we hold, and reads nothing.
    let woken = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        )
    };
    woken == 1
}

fn nanos_since(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

/// A futex call that wakes nobody, in ns.
pub(crate) fn futex_call_ns() -> Option<f64> {
    const TURNS: u32 = 2_000;
    let word = AtomicU32::new(0);
    let sample = |_| {
        let start = Instant::now();
        for _ in 0..TURNS {
            futex_wake(&word);
        }
        nanos_since(start) / f64::from(TURNS)
    };
    lower_median((0..9).map(sample))
}

/// The time in ns from one thread of a processor to another and no more: a hand-over by futex,
/// less the two calls that it takes.
pub(crate) fn context_switch_ns(cpu: u32, futex_call_ns: f64) -> Result<Option<f64>, MeasureError> {
    const TURNS: u32 = 2_000;
    const TIME: Duration = Duration::from_millis(400);
    let turn = AtomicU32::new(0);
    let begin = Instant::now();
    let play = |me: u32| -> Result<Vec<f64>, MeasureError> {
        let _here = Pinned::to(cpu)?;
        let mut samples = Vec::new();
        let mut start = Instant::now();
        for i in 1..=TURNS {
            while turn.load(Ordering::Acquire) != me {
                if begin.elapsed() > TIME {
                    return Ok(samples);
                }
                futex_wait(&turn, 1 - me);
            }
            turn.store(1 - me, Ordering::Release);
            futex_wake(&turn);
            if i % 100 == 0 {
                samples.push(nanos_since(start) / 200.0);
                start = Instant::now();
            }
        }
        Ok(samples)
    };
    let samples = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(1));
        let mine = play(0);
        other.join().unwrap_or(Err(MeasureError::NoProcessor))?;
        mine
    })?;
    Ok(lower_median(samples).map(|hand_over| (hand_over - 2.0 * futex_call_ns).max(50.0)))
}

/// How long one of two busy threads of a processor runs before the other does, in µs: the length
/// of the gaps that one sees in its own time.
pub(crate) fn time_slice_us(cpu: u32) -> Result<Option<f64>, MeasureError> {
    const TIME: Duration = Duration::from_millis(400);
    let busy = || {
        let _here = Pinned::to(cpu)?;
        let gaps = gaps(TIME, LONGEST_INTERRUPT);
        Ok::<_, MeasureError>(
            gaps.iter().map(|gap| gap.as_nanos() as f64 / 1000.0).collect::<Vec<_>>(),
        )
    };
    let mut gaps = std::thread::scope(|scope| {
        let other = scope.spawn(busy);
        let mine = busy()?;
        let theirs = other.join().unwrap_or(Err(MeasureError::NoProcessor))?;
        Ok::<_, MeasureError>([mine, theirs].concat())
    })?;
    // Too few to be turns of two threads: something else ran now and then.
    if gaps.len() < 8 {
        gaps.clear();
    }
    Ok(lower_median(gaps))
}

/// Whether a page fault of this host's kernel shares a lock of its mapping only. `None` if it does not say which
/// version it is.
pub(crate) fn has_mapping_locks() -> Option<bool> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    of_release(&release)
}

/// The same of a version. Linux 6.4 was the first.
fn of_release(release: &str) -> Option<bool> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next()?.parse::<u32>().ok();
    Some((next()?, next()?) >= (6, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_since_6_4_have_locks_of_mappings() {
        let of = |release| of_release(release);
        assert_eq!([of("6.4.0\n"), of("6.12.48+deb13-amd64"), of("10.0")], [Some(true); 3]);
        assert_eq!([of("6.1.0-40-amd64"), of("3.17.6"), of("6.3")], [Some(false); 3]);
        assert_eq!([of(""), of("6"), of("next")], [None; 3]);
    }
}
