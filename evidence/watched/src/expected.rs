//! What has to be seen in each planted program.

/// What has to be seen in a planted program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A lock, with its acquisitions and holds, those of readers and of writers together.
    Lock,
    /// Waits only: for a lock whose word the language hides, or for something else than a lock.
    Waits,
    /// A sentence about the whole program, which begins with these words.
    Sentence(&'static str),
}

impl Expected {
    /// What has to be seen in the program of a name.
    pub fn of(program: &str) -> Self {
        match program {
            "go-channel" | "go-channel-lock" | "c-barrier" | "openmp-barrier" => Self::Waits,
            "c-kernel-lock" => Self::Sentence("Locks in the kernel"),
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
}
