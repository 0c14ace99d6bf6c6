//! Outermost sections in which so many others are entered that a simulation cannot wait for their ends.
//!
//! The initialization of a library may be one section around a hundred thousand others, and those around as many
//! again. Such a section counts piece by piece, as the sections inside it are done.

use crate::progress::Progress;

/// With more sections inside than this, a section counts piece by piece.
const MANY: f64 = 100_000.0;
/// A piece has so many of them.
const PIECE: u32 = 256;

/// How much of an outermost section is done.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// What a section inside is worth, in outermost sections.
    each: f64,
    /// Sections inside that are done, and not counted yet.
    done: u32,
    /// What was counted, in outermost sections.
    counted: f64,
    /// Whether threads have to stop.
    over: bool,
}

impl Pieces {
    /// Those of a section with so many others inside, which is worth so much. `None` if it counts once it is done.
    pub(crate) fn of(inside: f64, worth: f64) -> Option<Self> {
        let each = worth / inside;
        (inside > MANY).then_some(Self { each, done: 0, counted: 0.0, over: false })
    }

    /// How much of this section is counted already, or will not be done.
    pub(crate) fn counted_of(&self, worth: f64) -> f64 {
        if self.over { worth } else { self.counted }
    }

    /// A thread has done another section inside. Returns whether it has to stop.
    pub(crate) fn is_over(&mut self, thread: usize, progress: &Progress) -> bool {
        self.done += 1;
        if !self.over && self.done >= PIECE {
            let piece = self.each * f64::from(std::mem::take(&mut self.done));
            self.counted += piece;
            progress.finish(thread, piece);
            self.over = progress.over();
        }
        self.over
    }
}
