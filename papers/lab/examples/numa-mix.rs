//! Prints how the programs' references divide into private and shared reads and writes, beside what
//! was published of the programs that they are modelled on.
//!
//! `cargo run --release -p kilocore-lab --example numa-mix -- [PROGRAM]...`
//!
//! The machine has no caches, and each reference takes a core one cycle. So every reference is counted:
//! those of locks and barriers, too. An atomic change of a word counts as a read and a write.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;
use std::time::Instant;

use kilocore_lab::numa_programs::{Program, Run, Size};
use kilocore_platform::Cycles;
use kilocore_sim::{Options, Reference, ReferenceKind, Sim, Simulation, UncachedMemory};

const THREADS: usize = 32;
const PAGE_BYTES: usize = 4096;

/// What Lee and Cho published (1996, tables 2 and 3): millions of references, megabytes, and private
/// reads, private writes, shared reads and shared writes in percent.
fn published(program: Program) -> (f64, f64, [f64; 4]) {
    match program {
        Program::Mp3d => (8.935, 2.02, [37.6, 20.0, 24.5, 17.9]),
        Program::Barnes => (58.716, 1.20, [49.7, 36.2, 13.5, 0.6]),
        Program::Cholesky => (39.341, 2.88, [25.0, 8.6, 57.2, 9.2]),
        Program::Radix => (33.107, 3.76, [49.9, 25.6, 15.1, 9.4]),
    }
}

#[derive(Debug, Clone, Copy)]
struct Page {
    private: bool,
    touched: bool,
}

/// What was counted of a program: its pages, and its references by kind.
#[derive(Debug, Default)]
struct Count {
    pages: HashMap<usize, Page>,
    /// Private reads and writes, shared reads and writes.
    references: [u64; 4],
}

#[derive(Debug)]
struct Counting(Rc<RefCell<Count>>);

impl UncachedMemory for Counting {
    fn refer(&mut self, reference: Reference) -> Cycles {
        let page = reference.address.get() / PAGE_BYTES;
        let count = &mut *self.0.borrow_mut();
        let page = count.pages.entry(page).or_insert(Page { private: false, touched: true });
        page.touched = true;
        let shared = usize::from(!page.private);
        let writes: &[usize] = match reference.kind {
            ReferenceKind::Read => &[0],
            ReferenceKind::Write => &[1],
            ReferenceKind::ReadModifyWrite => &[0, 1],
        };
        for write in writes {
            count.references[2 * shared + write] += 1;
        }
        Cycles(1)
    }

    fn lookahead(&self) -> Cycles {
        Cycles(200)
    }
}

fn private_pages(run: &dyn Run) -> HashMap<usize, Page> {
    let private = run.private_memory().into_iter();
    private
        .flat_map(|(_, range)| range.start / PAGE_BYTES..range.end / PAGE_BYTES)
        .map(|page| (page, Page { private: true, touched: false }))
        .collect()
}

fn count(program: Program) -> Result<Count, Box<dyn Error>> {
    let machine = kilocore_machine::find("opteron-6344-4s")?;
    let options = Options { cores: THREADS as u32, seed: 1 };
    let mut simulation = Simulation::new(&machine, options)?;
    let run = program.prepare::<Sim>(Size::Published, THREADS, 1)?;
    let count = Count { pages: private_pages(&*run), ..Count::default() };
    let count = Rc::new(RefCell::new(count));
    simulation.replace_caches(Box::new(Counting(Rc::clone(&count))));
    for index in 0..THREADS {
        let run = run.clone();
        simulation.spawn(move || run.thread(index))?;
    }
    simulation.run()?;
    run.check()?;
    Ok(count.take())
}

fn line(name: &str, millions: f64, megabytes: f64, percent: [f64; 4]) {
    let [private_reads, private_writes, shared_reads, shared_writes] = percent;
    println!(
        "{name:22}{millions:9.3}{megabytes:7.2}{private_reads:14.1}{private_writes:8.1}\
         {shared_reads:14.1}{shared_writes:8.1}"
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut programs: Vec<Program> =
        std::env::args().skip(1).map(|name| name.parse()).collect::<Result<_, _>>()?;
    if programs.is_empty() {
        programs = Program::ALL.to_vec();
    }
    println!(
        "{:22}{:>9}{:>7}{:>22}{:>22}",
        "", "millions", "MB", "private R, W %", "shared R, W %"
    );
    for program in programs {
        let (millions, megabytes, percent) = published(program);
        line(&format!("{program}, published"), millions, megabytes, percent);
        let begin = Instant::now();
        let count = count(program)?;
        let all: u64 = count.references.iter().sum();
        let percent = count.references.map(|of_kind| 100.0 * of_kind as f64 / all as f64);
        let touched = count.pages.values().filter(|page| page.touched).count();
        let megabytes = (touched * PAGE_BYTES) as f64 / 1e6;
        line(&format!("{program}, here"), all as f64 / 1e6, megabytes, percent);
        eprintln!("  ({:.1} s)", begin.elapsed().as_secs_f64());
    }
    Ok(())
}
