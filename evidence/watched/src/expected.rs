//! What has to be seen in each planted program.

/// What has to be seen in a planted program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A lock, with its acquisitions and holds.
    Lock,
    /// A lock for readers and writers, with those of both.
    ReadWriteLock,
    /// A lock of which only waits are there to see, as the language hides its word.
    Waits,
    /// Threads that wait for something else than a lock, at this place.
    Elsewhere,
    /// A sentence about the whole program, which begins with these words.
    Sentence(&'static str),
}

impl Expected {
    /// What has to be seen in the program of a name.
    pub fn of(program: &str) -> Self {
        match program {
            "c-rwlock" | "go-rwmutex" => Self::ReadWriteLock,
            "java-synchronized" | "java-reentrant" | "go-channel-lock" | "rust-parking-lot" => {
                Self::Waits
            }
            "c-barrier" | "openmp-barrier" | "go-channel" => Self::Elsewhere,
            "c-one-busy" => Self::Sentence("One busy thread"),
            "c-pipeline" => Self::Sentence("The slowest stage"),
            "c-uncontended" => Self::Sentence("No contention"),
            "python-gil" => Self::Sentence("A global interpreter lock"),
            _ => Self::Lock,
        }
    }

    /// How long threads hold the lock and compute between, in microseconds, so that this is there
    /// to be seen. What is asked for, where anything will do.
    pub fn times(program: &str, asked: (u64, u64)) -> (u64, u64) {
        match program {
            // The busy thread, the slow stage and the interpreter must be what others wait for.
            "c-one-busy" => (100, 5),
            "c-pipeline" | "python-gil" => (50, 20),
            _ => asked,
        }
    }

    /// Whether it is known how often the lock is taken, and for how long it is held.
    pub fn has_figures(self) -> bool {
        matches!(self, Self::Lock | Self::ReadWriteLock)
    }
}
