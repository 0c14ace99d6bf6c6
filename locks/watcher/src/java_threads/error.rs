//! What can be in the way of an answer.

use std::io;

use thiserror::Error;

/// Why a virtual machine does not tell of its threads.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AttachError {
    /// There is no such process, or it has ended.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// It is something else, or another virtual machine for Java.
    #[error("process {0} is no HotSpot virtual machine: it has no libjvm.so of HotSpot mapped")]
    NotHotSpot(u32),
    /// It belongs to somebody else.
    #[error("process {0} belongs to another user; run this as that user and group, or as root")]
    NotOurs(u32),
    /// It was told not to listen.
    #[error("the Java virtual machine {0} was started with -XX:+DisableAttachMechanism")]
    Disabled(u32),
    /// A signal would end it.
    #[error(
        "the Java virtual machine {0} does not catch SIGQUIT: it is starting or ending, or was \
         started with -Xrs and its socket was removed"
    )]
    NotCaught(u32),
    /// It is stopped, so it cannot answer.
    #[error("process {0} is stopped by a signal or a debugger")]
    Stopped(u32),
    /// It did not begin to listen. It may have printed its threads to its own output instead.
    #[error(
        "the Java virtual machine {0} opened no socket .java_pid* in its /tmp after SIGQUIT; its \
         /tmp may not be writable"
    )]
    NotListening(u32),
    /// The socket belongs to another process.
    #[error("process {by} listens on the socket that should be that of process {pid}")]
    SomebodyElse {
        /// The process that was asked.
        pid: u32,
        /// The process that listens.
        by: u32,
    },
    /// The virtual machine closed the connection before it had answered.
    #[error(
        "the Java virtual machine {0} hung up without an answer; old ones do so to root: run this \
         as the user that runs it"
    )]
    HungUp(u32),
    /// It refused the request.
    #[error("the Java virtual machine {pid} refused to tell of its threads ({code}): {text}")]
    Refused {
        /// The process of the virtual machine that was asked.
        pid: u32,
        /// Its own code, which is not 0.
        code: i64,
        /// How its explanation begins.
        text: String,
    },
    /// It answered with something else.
    #[error("process {0} does not answer as the attach protocol says")]
    Protocol(u32),
    /// It does not answer, or only slowly.
    #[error("the Java virtual machine {0} gave no whole answer in time")]
    Slow(u32),
    /// The system refused something.
    #[error("asking process {pid}: {what}: {source}")]
    System {
        /// The process of the virtual machine that was asked.
        pid: u32,
        /// What was being done, such as `reading its maps`.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}
