//! What it takes to zero a page that is in this or that cache: measured on this host, and simulated
//! on a machine beside that.
//!
//! `cargo run --release -p kilocore-sim --example zeroing -- MACHINE`, where MACHINE is a name or
//! the path of a machine file. For this host, `kilocore record machine --output host.toml` writes
//! one.
//!
//! Some number of pages are zeroed in turn. The more there are, the farther away is each page when it
//! is its turn again. A figure is the time of a round over its pages, and the median of rounds. The
//! pages measured lie in one mapping, in huge pages if the system has them. They are touched in
//! ascending order, so the hardware's prefetchers see a stream that goes on beyond each page. With
//! `scattered` as a second argument the order is one that looks like chance, which is what a page
//! allocator's pages are in.

use std::cell::Cell;
use std::process::ExitCode;
use std::rc::Rc;

use kilocore_machine::Description;
use kilocore_platform::{NodeId, Platform};
use kilocore_sim::{Found, Options, Sim, Simulation};

const PAGE: usize = 4096;
const PAGES: [usize; 12] = [8, 16, 32, 64, 128, 256, 512, 2048, 4096, 8192, 32_768, 65_536];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "core-i7-6700".to_owned());
    let scattered = arguments.next().is_some_and(|word| word == "scattered");
    let machine = match kilocore_machine::find(&name) {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!(
        "{:>6} {:>14} {:>16}  found, simulated on {}",
        "pages", "measured ns", "simulated ns", machine.name
    );
    for pages in PAGES {
        let order = order(pages, scattered);
        let measured = native::zeroing_ns(&order).map_or("–".to_owned(), |ns| format!("{ns:.1}"));
        let (simulated, found) = simulated_ns(&machine, &order);
        println!("{pages:>6} {measured:>14} {simulated:>16.1}  {}", shares(&found));
    }
    ExitCode::SUCCESS
}

/// The order in which pages are zeroed. A power of two of them is visited by odd steps.
fn order(pages: usize, scattered: bool) -> Rc<[usize]> {
    let step = if scattered { 0x9E37_79B1 } else { 1 };
    (0..pages).map(|turn| turn * step % pages).collect()
}

/// The time of a page in ns in the third round over all, and where its lines were.
fn simulated_ns(machine: &Description, order: &Rc<[usize]>) -> (f64, Found) {
    let mut simulation =
        Simulation::new(machine, Options { cores: 1, seed: 1 }).expect("a machine has a core");
    let region = simulation.add_region(order.len() * PAGE, NodeId(0));
    let result = Rc::new(Cell::new((0.0, Found::default())));
    let (seen, order) = (Rc::clone(&result), Rc::clone(order));
    let body = move || {
        for _ in 0..3 {
            let start = Sim::now();
            let found = order.iter().map(|&page| Sim::initialize(region.block(page, PAGE))).sum();
            seen.set(((Sim::now() - start).0 as f64 / order.len() as f64, found));
        }
    };
    simulation.spawn(body).expect("memory for a stack");
    simulation.run().expect("no deadlock");
    let (cycles, found) = result.get();
    (cycles / machine.clock_ghz.value, found)
}

fn shares(found: &Found) -> String {
    let percent = |lines: u32| 100.0 * f64::from(lines) / f64::from(found.lines());
    let levels = [("own", found.own), ("last level", found.shared), ("memory", found.memory)];
    let there = levels.iter().filter(|(_, lines)| *lines > 0);
    there
        .map(|(level, lines)| format!("{level} {:.0} %", percent(*lines)))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod native {
    use std::arch::asm;
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    use std::ptr::NonNull;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    use super::{PAGE, PAGES};

    /// The time of a page in ns: the median of rounds over all of them, by the time-stamp counter.
    pub(crate) fn zeroing_ns(order: &[usize]) -> Option<f64> {
        static BUFFER: OnceLock<Option<usize>> = OnceLock::new();
        static GHZ: OnceLock<f64> = OnceLock::new();
        let start = (*BUFFER.get_or_init(|| map(PAGE * PAGES[PAGES.len() - 1])))?;
        let ghz = GHZ.get_or_init(tsc_ghz);
        let rounds = (65_536 / order.len()).clamp(5, 2001);
        let mut times: Vec<f64> = (0..rounds + 2)
            .map(|_| {
                let begin = tsc();
                for &page in order {
                    zero(start + page * PAGE);
                }
                (tsc() - begin) as f64 / order.len() as f64
            })
            .skip(2)
            .collect();
        times.sort_by(f64::total_cmp);
        Some(times[times.len() / 2] / ghz)
    }

    /// Zeroes a page as Linux does.
    fn zero(page: usize) {
        let page = std::ptr::with_exposed_provenance_mut::<u8>(page);
        // SAFETY: the page is one of the mapping, which nobody else uses and nobody reads.
        unsafe {
            asm!(
                "rep stosb",
                inout("rcx") PAGE => _,
                inout("rdi") page => _,
                in("al") 0_u8,
                options(nostack, preserves_flags),
            );
        }
    }

    fn tsc() -> u64 {
        // SAFETY: both are part of x86-64. The fences keep the stores before and after on their side.
        unsafe {
            _mm_lfence();
            let now = _rdtsc();
            _mm_lfence();
            now
        }
    }

    fn tsc_ghz() -> f64 {
        let (start, first) = (Instant::now(), tsc());
        while start.elapsed() < Duration::from_millis(50) {
            std::hint::spin_loop();
        }
        let last = tsc();
        (last - first) as f64 / start.elapsed().as_nanos() as f64
    }

    /// A mapping of so many bytes and more, for good, every page of which has been written.
    fn map(bytes: usize) -> Option<usize> {
        const HUGE: usize = 1 << 21;
        // SAFETY: a new mapping, which touches nothing that is there.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes + HUGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let mapped = NonNull::new(mapped).filter(|_| mapped != libc::MAP_FAILED)?;
        let start = mapped.as_ptr().expose_provenance().next_multiple_of(HUGE);
        // SAFETY: advice on the mapping, which a system without huge pages refuses without harm.
        unsafe {
            libc::madvise(std::ptr::with_exposed_provenance_mut(start), bytes, libc::MADV_HUGEPAGE);
        }
        for page in (start..start + bytes).step_by(PAGE) {
            zero(page);
        }
        Some(start)
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod native {
    /// Not measured on this kind of host.
    pub(crate) fn zeroing_ns(_order: &[usize]) -> Option<f64> {
        None
    }
}
