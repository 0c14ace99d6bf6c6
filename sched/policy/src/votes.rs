//! Votes against noise: something counts as true once it was in enough of the last windows.

/// The last windows' answers to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Votes {
    /// The latest answer is the lowest bit.
    answers: u64,
    needed: u32,
    of: u32,
}

impl Votes {
    /// A question that `needed` of the last `of` answers decide: 1 to 64 of them, and no more than
    /// `of` are ever needed.
    #[must_use]
    pub const fn new(needed: u32, of: u32) -> Self {
        let of = if of < 1 {
            1
        } else if of > 64 {
            64
        } else {
            of
        };
        let needed = if needed < 1 {
            1
        } else if needed > of {
            of
        } else {
            needed
        };
        Self { answers: 0, needed, of }
    }

    /// Takes an answer. Returns whether enough of the last ones were yes.
    pub fn cast(&mut self, yes: bool) -> bool {
        let kept = if self.of == 64 { u64::MAX } else { (1 << self.of) - 1 };
        self.answers = ((self.answers << 1) | u64::from(yes)) & kept;
        self.carried()
    }

    /// Whether enough of the last answers were yes.
    #[must_use]
    pub const fn carried(&self) -> bool {
        self.answers.count_ones() >= self.needed
    }

    /// Forgets all answers, as if none had been given.
    pub fn clear(&mut self) {
        self.answers = 0;
    }
}
