//! Runs an unmodified program with many threads on a simulated machine.
//!
//! [`emulate`] executes a program under QEMU's user mode with Kilocore's plugin. Each thread of the program is a
//! task of the simulator, so the program runs as it would on as many cores of a machine that is not here: with its
//! queues, its dependences and its imbalance, and with what its threads do to one another's cache lines.
//! [`Emulated`] shows runs on several numbers of cores.
//!
//! # Decisions
//! * **The program runs on one core of the host.** One of its threads runs at a time, and handing over to another
//!   is quickest on one core. Other cores of the host serve other runs ([`emulate_all`]).
//! * **Speedups are of times.** The program does the same work on each number of cores, or says by `{cores}` in its
//!   command what to do on so many.
//! * **Chance is tried, too** ([`Runs`]). One run is one of many that are as likely.
//! * **What is known is not emulated again** ([`KeptRuns`]), if all is the same that it depends on.
//! * **Each run is a point** ([`emulate_runs`]), which any process of this host may emulate for all of a sweep, if its result
//!   can be used again.
#![deny(missing_docs)]

mod cause_tables;
mod causes;
mod chain;
mod chain_tables;
mod cycles;
mod divided;
mod document;
mod emulator;
mod environment;
mod error;
mod instructions;
mod kept;
mod kept_run;
mod known;
mod names;
mod notes;
mod own_output;
mod point;
mod question;
mod replaced;
mod row;
mod run;
mod runs;
mod stacks;
mod stuck;
mod study;
mod variant;
mod verdict;
mod window;
mod words;
mod written_stacks;
mod written_study;

pub use causes::{Causes, FunctionTime, HotLine, HotUse};
pub use chain::{ChainFunction, ChainHandOver, ChainThread, RunChain};
pub use cycles::CyclesFrom;
pub use emulator::Emulator;
pub use error::EmulateError;
pub use instructions::{Instructions, TimedCore, time_instructions};
pub use kept::{KeptRuns, MOST_KEPT_BYTES};
pub use kept_run::KeptRun;
pub use kilocore_qemu::{QemuError, build as build_qemu};
pub use notes::PIPE_LEFT_OUT;
pub use point::Point;
pub use run::{Asked, emulate, emulate_all};
pub use runs::{Progress, Runs, emulate_runs};
pub use stacks::StackTimes;
pub use study::Emulated;
pub use variant::Variant;
pub use verdict::{Verdict, Why};
pub use written_stacks::{NoStack, WrittenStacks};
pub use written_study::WrittenStudy;
