//! Latencies of caches and memory by a pointer chase, and bandwidth by copying.

use kilocore_figures::lower_median;

use crate::MeasureError;
use crate::pinned::Pinned;
use std::hint::black_box;
use std::io::Error;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Bytes from one element of a chase to the next: at least a cache line on every processor that
/// this runs on.
const LINE: usize = 64;
const WORDS: usize = LINE / size_of::<u64>();

/// Zeroed memory from the system. It is in huge pages if the system has them, so that translating
/// addresses does not add to the latency of each access.
struct Buffer {
    words: *mut u64,
    bytes: usize,
}

// SAFETY: the memory belongs to the buffer alone, as a Vec's would.
unsafe impl Send for Buffer {}

impl Buffer {
    fn new(bytes: usize) -> Result<Self, MeasureError> {
        // SAFETY: a fresh private mapping that replaces nothing; the result is checked below.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            let reason = Error::last_os_error().to_string();
            return Err(MeasureError::Memory { mib: bytes >> 20, reason });
        }
        // SAFETY: advice on our own mapping; a kernel without huge pages refuses it, no harm done.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
        Ok(Self { words: start.cast(), bytes })
    }

    fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is that long, page-aligned, readable and writable, zeroed, and
        // borrowed through `self` alone.
        unsafe { std::slice::from_raw_parts_mut(self.words, self.bytes / size_of::<u64>()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrows it any more.
        unsafe { libc::munmap(self.words.cast(), self.bytes) };
    }
}

/// Returns how much memory may be used: a quarter of what the system has available, and at most 1
/// GiB.
fn allowance() -> usize {
    const MOST: usize = 1 << 30;
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = text.lines().find_map(|line| {
        let kib = line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB")?.trim();
        kib.parse::<usize>().ok()?.checked_mul(1024)
    });
    available.map_or(64 << 20, |bytes| bytes / 4).clamp(1 << 20, MOST)
}

/// Returns the latency in ns of memory that was first touched on processor `home`, seen from
/// `from`, and the size of the buffer in bytes. Loads that each wait for the one before go all over
/// the buffer. Its size is at least four times the last-level cache, as far as the memory allows.
pub(crate) fn memory_ns(
    home: u32,
    from: u32,
    cache_kib: f64,
) -> Result<(f64, usize), MeasureError> {
    let wanted = ((cache_kib * 4096.0) as usize).max(64 << 20);
    let bytes = floor_power_of_two(wanted.next_power_of_two().min(allowance()));
    let mut buffer = Buffer::new(bytes)?;
    {
        let _there = Pinned::to(home)?;
        link(buffer.words());
    }
    let _here = Pinned::to(from)?;
    Ok((chase(buffer.words(), 200_000, Duration::from_millis(400)), bytes))
}

/// Returns the latency in ns of a load from a buffer of about so many KiB that was read before.
pub(crate) fn cached_ns(kib: f64) -> Result<f64, MeasureError> {
    let bytes = floor_power_of_two(((kib * 1024.0) as usize).clamp(LINE * 4, allowance()));
    let mut buffer = Buffer::new(bytes.max(4096))?;
    let words = &mut buffer.words()[..bytes / size_of::<u64>()];
    link(words);
    // Once around brings everything into the cache.
    let lines = u32::try_from(bytes / LINE).unwrap_or(u32::MAX);
    chase(words, lines, Duration::from_millis(200));
    Ok(chase(words, 200_000, Duration::from_millis(100)))
}

/// Returns the time in ns of a line of a page that is zeroed, if so many KiB of pages are zeroed in
/// turn: the median of rounds.
pub(crate) fn zeroing_ns(kib: f64) -> Result<f64, MeasureError> {
    const PAGE: usize = 4096;
    let bytes = floor_power_of_two(((kib * 1024.0) as usize).clamp(PAGE * 4, allowance()));
    let mut buffer = Buffer::new(bytes)?;
    let words = buffer.words();
    words.fill(1);
    let begin = Instant::now();
    let mut rounds = Vec::new();
    while rounds.len() < 3 || begin.elapsed() < Duration::from_millis(100) {
        let start = Instant::now();
        // Page by page, as processors may do otherwise with more at a time.
        for page in words.chunks_exact_mut(PAGE / size_of::<u64>()) {
            black_box(&mut *page).fill(0);
        }
        rounds.push(start.elapsed().as_nanos() as f64 / (bytes / LINE) as f64);
    }
    // The first round finds what was there before.
    Ok(lower_median(rounds.split_off(1)).unwrap_or_default())
}

fn floor_power_of_two(bytes: usize) -> usize {
    1 << bytes.max(1).ilog2()
}

/// Links the lines to one ring that visits each once, in an order that no prefetcher guesses. The
/// successor of line i is a·i + c modulo the number of lines, which is a power of two. The ring
/// visits all lines because a is 1 modulo 4 and c is odd (Hull and Dobell). The links are written
/// in rising order, which is much faster than shuffling.
fn link(words: &mut [u64]) {
    let lines = words.len() / WORDS;
    let mask = lines as u64 - 1;
    for i in 0..lines {
        let next = (i as u64).wrapping_mul(0x5_DEEC_E66D).wrapping_add(0x2545_F491) & mask;
        words[i * WORDS] = next * WORDS as u64;
    }
}

/// Returns the time of a step in ns: the median of rounds of `steps`, repeated until `time` is
/// over.
fn chase(words: &[u64], steps: u32, time: Duration) -> f64 {
    let begin = Instant::now();
    let mut at = 0;
    let mut rounds = Vec::new();
    while rounds.is_empty() || begin.elapsed() < time {
        let start = Instant::now();
        for _ in 0..steps {
            at = words[at] as usize;
        }
        black_box(at);
        rounds.push(start.elapsed().as_nanos() as f64 / f64::from(steps));
    }
    lower_median(rounds).unwrap_or_default()
}

/// Returns the bandwidth in GB/s of copying on all the processors at once; bytes read and bytes
/// written both count. All buffers together have twice the size of the last-level caches, as far as
/// the memory allows.
pub(crate) fn bandwidth_gb_per_s(cpus: &[u32], cache_kib: f64) -> Result<f64, MeasureError> {
    const TIME: Duration = Duration::from_millis(200);
    let each = (cache_kib * 2048.0) as usize / cpus.len().max(1);
    let each = each.max(16 << 20).min(allowance() / cpus.len().max(1)) & !0xfff;
    let barrier = Barrier::new(cpus.len());
    let copied = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|&cpu| {
                let barrier = &barrier;
                scope.spawn(move || copy(cpu, each, barrier, TIME))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(MeasureError::NoProcessor)))
            .sum::<Result<f64, _>>()
    })?;
    Ok(copied / 1e9)
}

/// Copies one half of a buffer to the other for that time; returns bytes per second.
fn copy(cpu: u32, bytes: usize, barrier: &Barrier, time: Duration) -> Result<f64, MeasureError> {
    let pinned = Pinned::to(cpu);
    let buffer = Buffer::new(bytes.max(8192)).map(|mut buffer| {
        buffer.words().fill(1);
        buffer
    });
    // Every thread must come here, whatever failed, because the others wait for it.
    barrier.wait();
    pinned?;
    let mut buffer = buffer?;
    let words = buffer.words();
    let (from, to) = words.split_at_mut(words.len() / 2);
    let start = Instant::now();
    let mut done = 0.0;
    while start.elapsed() < time {
        to[..from.len()].copy_from_slice(from);
        black_box(&mut *to);
        done += 2.0 * size_of_val(from) as f64;
    }
    Ok(done / start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::{LINE, WORDS, link};

    #[test]
    fn the_ring_visits_every_line_once() {
        for lines in [4_usize, 64, 1024] {
            let mut words = vec![0; lines * WORDS];
            link(&mut words);
            let mut seen = vec![false; lines];
            let mut at = 0;
            for _ in 0..lines {
                assert!(!std::mem::replace(&mut seen[at * 8 / LINE], true));
                at = words[at] as usize;
            }
            assert_eq!(at, 0, "{lines} lines");
        }
    }
}
