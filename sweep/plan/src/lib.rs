//! Plans: what is to be run of Kilocore's commands, over lists and ranges of any option.
//!
//! A plan is a file of TOML:
//!
//! ```toml
//! folder = "figures"                     # where the answers go, beside the plan; without it, the plan's own name
//!
//! with.most = 64                         # one value, in all commands
//!
//! [[run]]
//! command = "kilocore forecast db.json --machine {machine} --lock {lock} --cores 1-{most} --seed {seed}"
//! output = ["{machine}/{lock}-{seed}.json", "{machine}/{lock}-{seed}.svg"]
//! over.lock = ["pthread", "mcs"]         # each value of a list
//! over.seed = "1-9:2, 100"               # each number of ranges: here 1, 3, 5, 7, 9 and 100
//! each = [                               # values that belong together
//!     { machine = "opteron-6344-4s", most = 48 },
//!     { machine = "epyc-9554-2s", most = 128 },
//! ]
//! skip = [{ lock = "mcs", seed = "> 5" }]
//!
//! [[figure]]                             # what the runs' tables say together
//! output = "throughput.svg"
//! x = "cores"
//! y = "throughput_per_s"
//! line = "lock"
//!
//! [[after]]                              # once, when all runs are answered
//! command = "kilocore-lab tables page.md figures"
//! ```
//!
//! Each `[[run]]` is run with each combination of its values, less those that it skips. `{machine}` in its command becomes
//! the value. [`Plan::parse`] gives the runs, in the order of the file: what stands first under `over` changes last.
//!
//! # Decisions
//! * **A command is written as at a terminal**, with the program's name first. So it can be tried before it is swept.
//!   Quotes are those of a shell, and nothing else of a shell is done: no variables, no patterns, no pipes.
//! * **A value never becomes several words**, nor a part of a quote: the command is split before values are put in.
//! * **`{cores}` and `{threads}` stay**, unless the plan gives them values: commands that start programs give these their
//!   own. Any other name in braces must have a value, and each value must be used. So a misspelt name is never run.
//! * **What a run answers has a file of its own.** Where a plan names none, it is the command's standard output, under the
//!   run's values. Two runs with the same file are refused before anything is run.
//! * **A figure names columns, not runs.** Which there are is known when the runs have written their tables. What can be
//!   known before is refused before anything is run.
//! * **Conditions are tables of values and comparisons**, not a language: what they leave out can be listed by a person
//!   who reads them.

mod condition;
mod document;
mod error;
mod figure;
mod limits;
mod output;
mod plan;
mod range;
mod run;
mod template;
mod value;
mod with;
mod written;

pub use error::PlanError;
pub use figure::{NotComparable, PlannedFigure};
pub use limits::{MOST_BYTES, MOST_RUNS};
pub use plan::Plan;
pub use range::RangeError;
pub use run::{AfterCommand, Answer, PlannedRun};
pub use value::Value;
pub use written::{WrittenError, written};
