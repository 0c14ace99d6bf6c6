//! Four parallel programs of the SPLASH kind, whose every reference to memory the simulator sees.
//!
//! Where the pages of a program should lie, on a machine with several memories, is asked with real
//! programs. Lee and Cho (1996) took four of the SPLASH suites: [MP3D](mp3d), [BARNES](barnes),
//! [CHOLESKY](cholesky) and [RADIX](radix). These are written anew, as their algorithms are
//! described. No line is copied.
//!
//! # The idea
//! * **One source for all machines.** A program is generic over
//!   [`Platform`](kilocore_platform::Platform). It runs on real threads, and on those of the
//!   simulator.
//! * **Data are words of the platform.** What a program keeps in memory, it loads and stores one
//!   number at a time, and each time is one reference. Records have the layout of C, so that numbers
//!   share pages as they would there. What a compiler keeps in registers is an ordinary variable.
//! * **A page has one use.** What a thread keeps to itself lies on pages of its own. A run tells the
//!   addresses of [private](Run::private_memory) and of [shared](Run::shared_memory) memory.
//! * **The data are made beforehand**, outside of the threads. So the first to touch a page is a
//!   thread that works on it.
//! * **Results are checked.** Each program has a check that a wrong number does not pass.
//!
//! ```
//! use kilocore_lab::numa_programs::{Program, Size};
//! use kilocore_platform::Native;
//!
//! let run = Program::Radix.prepare::<Native>(Size::Small, 2, 1).unwrap();
//! std::thread::scope(|scope| {
//!     for index in 0..run.threads() {
//!         let run = &run;
//!         scope.spawn(move || run.thread(index));
//!     }
//! });
//! run.check().unwrap();
//! ```
//!
//! # References, beside those that were published
//! With 32 threads, in [`Size::Published`]: millions of references, megabytes of pages that were
//! touched, and the kinds of references in percent. `examples/mix.rs` prints it. In each cell, what
//! Lee and Cho published comes first (their tables 2 and 3), and what is simulated here comes second.
//!
//! | program | millions | MB | private reads | private writes | shared reads | shared writes |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | MP3D | 8.9, 8.8 | 2.0, 2.0 | 37.6, 13.2 | 20.0, 9.7 | 24.5, 45.6 | 17.9, 31.5 |
//! | BARNES | 58.7, 58.4 | 1.2, 1.2 | 49.7, 48.0 | 36.2, 33.9 | 13.5, 17.8 | 0.6, 0.3 |
//! | CHOLESKY | 39.3, 36.7 | 2.9, 2.8 | 25.0, 21.4 | 8.6, 14.9 | 57.2, 53.3 | 9.2, 10.5 |
//! | RADIX | 33.1, 30.8 | 3.8, 4.6 | 49.9, 54.9 | 25.6, 21.3 | 15.1, 14.5 | 9.4, 9.4 |
//!
//! Only sizes were chosen so as to come near the published totals. The paper does not say what sizes
//! and options its programs had, and it counted the loads and stores of compiled code for MIPS. So
//! these are the likely reasons for the differences, and none of them was measured:
//!
//! * **All** lack the references to the stack that compiled code makes: saved registers, arguments,
//!   and variables that found no register.
//! * **MP3D** lacks most, as moving a particle is one long function with many variables. Its shared
//!   references are of the published kind: 0.69 writes for a read, where the paper has 0.73. As the
//!   total is the same, there are nearly twice as many of them.
//! * **BARNES** writes less to shared memory. The tree is built once for each step, and there are
//!   only two steps of many bodies. More and shorter steps would write more. That its private
//!   references agree comes from its model, which keeps the state of a walk in variables of the
//!   process, and so in memory.
//! * **CHOLESKY** writes more to private memory, where it sums up what a panel takes from another,
//!   four columns at a time. With more columns at a time there would be fewer such writes.
//! * **RADIX** makes its keys as its model does, and so most references are private. For the
//!   published total it needs more keys than the published megabytes have room for.

pub mod barnes;
mod barrier;
pub mod cholesky;
mod error;
mod lock;
pub mod mp3d;
mod pages;
mod program;
pub mod radix;
mod random;
mod run;
mod shares;
mod word;

pub use error::{MOST_THREADS, OutOfRange, WrongResult};
pub use program::{Program, Size, Workload};
pub use run::{Run, Summary};
