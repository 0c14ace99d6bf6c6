//! Runs a program under QEMU and streams the pages that its threads refer to.
//!
//! [`record`] starts an unmodified program under QEMU's user mode with Kilocore's plugin, and gives a
//! [`Stream`] of what it does to whoever wants it, while it runs. The program keeps its standard input,
//! output and error, its signals and its exit status. The memory that this needs does not grow with the
//! run: the program waits for a consumer that is slower.
//!
//! # What a stream does not show
//!
//! * Loads and stores of the kernel on behalf of the program, such as those of `read` and `write`.
//! * Processes that the program forks. They run under QEMU and are not recorded. A program that they, or
//!   the program itself, execute instead of themselves runs natively.
//! * What a thread did since its last quantum, if a signal ends the program.
//! * Time. Instructions stand for it, and they take QEMU other times than a processor.
//!
//! # Decisions
//! Where a page should be on a machine with several memories depends on which threads use it, when,
//! and how.
//!
//! * **QEMU, because it sees every load and store of a program as it is.** Hardware counters
//!   sample, and instrumenting a program needs its source. The price is the translation: programs
//!   that calculate with floating-point numbers take 30 times as long in QEMU before anything is
//!   counted.
//! * **Nothing grows.** A thread of the program writes into a ring of 16,384 bursts, in memory that
//!   it shares with the reader. If the ring is full, the thread waits. If the reader goes away,
//!   even by `SIGKILL`, the program goes on and is recorded no more.
//! * **Instructions stand for time.** Threads run at the same time, and their quanta are put into
//!   one order: whoever has executed the fewest instructions goes first. A thread that waits in the
//!   system for longer than half a millisecond is passed, and its clock is put forward when it
//!   comes back. The order of one and the same stream is always the same; two runs of a program
//!   differ, as they do without QEMU.
//! * **The address space orders threads more strictly.** Each change of it has a number, and each
//!   quantum says how many changes it has seen. What had not seen a change goes before it, and what
//!   had goes after it. So no page is used in a stream before it is mapped or after it is gone,
//!   even where a thread maps memory and another one learns of it without the system's help. A
//!   quantum ends when a page turns up that was not in the table and there was a change.
//! * **A thread that brings nothing may be waiting for one that waits for the reader**, inside
//!   QEMU, which sometimes stops all threads. If nothing can be taken in order for 20 ms while a
//!   ring is full, or for 200 ms while none is, what is there is taken.
//! * **Forked processes go on and are not recorded**, because their order with the others would be
//!   made up. A program that is executed instead of another one runs without QEMU. The stream says
//!   both.
//!
//! # What streaming costs
//! Measured on two cores that had other work to do as well, with QEMU 7.2 and a reader that only
//! adds up: the time on the clock, as a multiple of the program's without QEMU.
//!
//! | program | in QEMU alone | with the plugin | and the reader | and a file |
//! | --- | ---: | ---: | ---: | ---: |
//! | `sort --parallel=4`, 60 MB of text | 4 | 8 | 13 | 20 |
//! | `xz -T4 -2`, 12 MB of text | 2 | 6 | 11 | 20 |
//! | a product of matrices with OpenMP, for any x86-64 | 30 | 40 | 45 | 52 |
//! | the same, compiled for AVX2 | 130 | 140 | 150 | 150 |
//!
//! So it is QEMU's arithmetic, and not the counting, that takes programs beyond a hundred times: it
//! calculates with floating-point numbers in software.
#![deny(missing_docs)]

mod allocations;
mod error;
mod lane;
mod lock_tally;
mod locks;
mod memory;
mod modules;
mod plugin;
mod record;
mod stream;
mod tee;

pub use allocations::Allocations;
pub use error::{RecordError, StreamError};
pub use kilocore_qemu::{ProgramError, QemuError};
pub use locks::{Traced, trace_locks};
pub use modules::Modules;
pub use record::{Options, Recorded, check, record};
pub use stream::Stream;
pub use tee::{Tee, TeeError};
