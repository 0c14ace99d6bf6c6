//! Running a program: its signals, cores, output and status.
//!
//! [`run`] starts a program and waits for its end. The program has this process's standard input,
//! output and error unless told otherwise. If a signal asks this process to end while the program
//! runs, it is passed on to the program. Two things are special:
//!
//! * A [`Start::before_exec`] is called while the program's process exists but has not yet executed
//!   the program. A recorder that is attached there misses nothing of the program.
//! * An [`Observer`] sees what the program writes, which is passed on as it is. A [`work::Counter`] is one:
//!   it counts what the program did.

mod cannot_start;
mod certain_end;
mod cores;
mod direct;
mod end_after;
mod executable;
mod find;
mod gate;
mod host;
mod inherited;
mod input;
mod leftover;
mod observe;
mod obstacle;
mod orphans;
mod preload;
pub mod recording_folder;
mod signals;
mod sized_command;
mod start;
mod started;
mod status;
mod unloaded;
pub mod work;

pub use cannot_start::{CannotStart, check_program, why_refused};
pub use cores::{allowed_cores, confine, cores_of, spare_cores};
pub use direct::execute;
pub use end_after::EndAfter;
pub use executable::machine_name;
pub use find::find_program;
pub use gate::{BeforeExec, NotStarted};
pub use host::{boot_id, hostname, kernel_release, machine, utc_date, utc_date_of};
pub use inherited::{keep_ignored_signals, survive_full_files};
pub use input::{Input, input_is_a_file, input_is_a_stream};
pub use kilocore_hardware::CpuId;
pub use observe::{Observer, Stream};
pub use obstacle::{
    Obstacle, obstacle, obstacle_of_command, obstacle_of_image, obstacle_of_program,
};
pub use preload::{preload_all, preload_environment, preloading};
pub use signals::{Held, MOST_AT_A_TIME};
pub use sized_command::{is_sized, misspelt_number, sized_for};
pub use start::{End, OnStart, Output, Start, run};
pub use started::Started;
pub use status::{shell_status, shell_status_of_signal, status_of_bad_end};
pub use unloaded::{Unloaded, why_unloaded};
