//! Where threads spun for other threads.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in the program at which a timer found threads in a loop that only waits for another thread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SpinPlace {
    /// The id of the process whose threads spun.
    pub process: u32,
    /// The function for people, with its file or line.
    pub function: String,
    /// The kind of lock that threads spin for there, where the function says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// How often the timer found a thread there.
    pub samples: u64,
    /// How many different threads.
    pub threads: u64,
}

/// Shows the function and its file or line; not the process and the counts.
impl fmt::Display for SpinPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)
    }
}
