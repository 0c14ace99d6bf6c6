//! What was recorded of one word in all windows in which it was watched.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use kilocore_figures::Nanoseconds;

use crate::cost::HitCost;
use crate::history::{History, Operation, PartialValue};
use crate::ids::{Moment, Tid};
use crate::model::{Model, model, releases};
use crate::stored::Stored;

/// A stretch in which a thread was off its core, and whether by its own will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Away {
    pub(crate) from: Moment,
    pub(crate) to: Moment,
    pub(crate) asleep: bool,
}

/// Those of all threads in a window, in order.
pub(crate) type Absences = BTreeMap<Tid, Vec<Away>>;

/// What one window showed of a watched word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    pub(crate) begin: Moment,
    pub(crate) end: Moment,
    pub(crate) history: History,
    /// The threads that were watched, of how many that there were.
    pub(crate) threads: Vec<Tid>,
    pub(crate) of: usize,
    /// The share of the process's processor time that the watched threads had, where all that may
    /// be watched were.
    pub(crate) covered: Option<f64>,
    /// Whether these were only a few of those that write to the word.
    pub(crate) few: bool,
    /// Whether nothing held the threads up but writes to this word. Other words that are watched do,
    /// and so do copies of stacks, which may cost several times as much as the hit.
    pub(crate) undisturbed: bool,
    /// How many hits there were at other words that were watched in the same window.
    pub(crate) elsewhere: u64,
    /// Whether stacks were copied at the hits.
    pub(crate) copied: bool,
    /// What a hit cost then.
    pub(crate) cost: HitCost,
    pub(crate) away: Rc<Absences>,
}

impl Watch {
    /// How long it lasted.
    pub(crate) fn length(&self) -> Nanoseconds<f64> {
        (self.end - self.begin).calculated()
    }
}

/// So much of the processor time must be watched threads', or nothing is said of the rest.
const COVERED: f64 = 0.5;
/// The first window, the shortest and the longest.
const FIRST: Duration = Duration::from_millis(5);
const SHORTEST: Duration = Duration::from_millis(2);
pub(crate) const LONGEST: Duration = Duration::from_millis(640);
/// How many writes a window should see: enough for several sections of each thread, few enough
/// that the program is not held up for long.
const FEW: usize = 60;
const MANY: usize = 1200;
/// So many writes in all tell what can be told.
const ENOUGH: usize = 20_000;

/// A word that is watched now and then.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    pub(crate) windows: Vec<Watch>,
    /// How long the next window should last.
    pub(crate) next: Duration,
    pub(crate) writes: usize,
    /// The threads that were seen to write to it.
    pub(crate) writers: BTreeSet<Tid>,
    /// What the instructions that write to it store.
    stored: Stored,
    agreed: BTreeMap<u64, PartialValue>,
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            windows: Vec::new(),
            next: FIRST,
            writes: 0,
            writers: BTreeSet::new(),
            stored: Stored::default(),
            agreed: BTreeMap::new(),
        }
    }
}

impl Watched {
    /// Adds a window, and finds how long the next one should last.
    pub(crate) fn add(&mut self, watch: Watch) {
        let writes = watch.history.operations.len();
        self.writes += writes;
        self.writers.extend(watch.history.operations.iter().map(|operation| operation.tid));
        if watch.few {
            // Its length suits all the threads.
        } else if writes < FEW {
            self.next = (self.next * 2).min(LONGEST);
        } else if writes > MANY {
            self.next = (self.next / 2).max(SHORTEST);
        }
        self.stored.learn(&watch.history.operations);
        self.windows.push(watch);
        let agreed = self.stored.agreed();
        let anew = if agreed == self.agreed { self.windows.len() - 1 } else { 0 };
        for window in &mut self.windows[anew..] {
            window.history.settle(&agreed);
        }
        self.agreed = agreed;
    }

    /// How much there is still to learn, from 1 for everything towards 0.
    pub(crate) fn ignorance(&self) -> f64 {
        let known = self.writes as f64 / ENOUGH as f64;
        // A word that nobody writes to tells little however long it is watched.
        let silent = self.windows.len() as f64 / 50.0;
        1.0 / (1.0 + 4.0 * known.max(silent))
    }

    /// Whether most of the processor time in the windows was that of threads that were watched.
    pub(crate) fn is_covered(&self) -> bool {
        let known =
            self.windows.iter().filter_map(|window| Some((window.covered?, window.length().0)));
        let (covered, all) = known.fold((0.0, 0.0), |(covered, all), (share, length)| {
            (covered + share * length, all + length)
        });
        covered >= COVERED * all
    }

    /// What the writes to it mean.
    pub(crate) fn model(&self) -> Model {
        model(&self.operations())
    }

    /// The places in the code that give it back.
    pub(crate) fn releases(&self, model: Model) -> BTreeSet<u64> {
        releases(&self.operations(), model)
    }

    fn operations(&self) -> Vec<&[Operation]> {
        self.windows.iter().map(|window| window.history.operations.as_slice()).collect()
    }
}
