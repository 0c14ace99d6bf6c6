//! What the system's files say of processes and threads at this moment: which there are, in what
//! state they are, in which system call a thread sleeps, what it sends, and how much of the cores' time a
//! control group allows them.
//!
//! Most of these are reads of a few hundred bytes below `/proc`, made so that many of them in a row cost
//! the programs that are looked at next to nothing.

mod clock;
mod core_time;
pub mod foreign_files;
mod limits;
mod load;
mod look;
pub mod maps;
mod parent;
mod peer;
pub mod perf_events;
mod process;
mod quota;
mod sends;
mod small_file;
mod tcp;

pub use clock::{cycles, monotonic, processor_time, thread_time};
pub use core_time::{CoreTime, CoreTimes};
pub use limits::{HeldUp, about_offline, offline_cores, offline_warning};
pub use load::runnable_threads;
pub use look::{Call, SyscallState, ThreadState, Word, futex_word, look, syscall_state};
pub use parent::die_with_parent;
pub use peer::peer;
pub use process::{
    FileId, Image, Status, all, executable, has_ended, has_environment, image, name, newest,
    process_of, status, threads,
};
pub use quota::{Quota, Throttling};
pub use sends::{NoSends, Sends};
pub use small_file::read;
pub use tcp::{TcpSocket, sockets_of, tcp_sockets};
