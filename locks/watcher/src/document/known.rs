//! A word with all that is known of it, and what it turned out to be.

use std::collections::BTreeSet;

use crate::java_threads::WaitKind as JavaWaits;
use crate::word_names::{Names, WaitKind, Waiter, WordPlace, waiter};
use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::thread_account::WordKind;
use kilocore_lock_profile::{Caller, Frame, Histogram};

use super::histograms::spread;
use super::places::{own_part, release_places, stacks};
use crate::figures::{Figures, figures};
use crate::ids::Word;
use crate::java::JavaWait;
use crate::ledger::{Ledger, Waits};
use crate::model::Model;
use crate::progress::Computing;
use crate::watched::Watched;

/// The whole time for which the windows stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// For how long the process was there.
    pub(crate) wall_time: Nanoseconds<f64>,
    /// By how much more than in windows whose switches are known everything happened.
    pub(crate) scale: f64,
}

/// What a word turned out to be.
#[derive(Debug)]
pub(super) enum Is {
    Lock,
    Condition,
    Barrier,
    /// Waiting for a thread to end, or of a runtime's thread for work.
    Join,
    Idle,
    Unknown,
}

/// A word with all that is known of it.
pub(super) struct KnownWord<'a> {
    pub(super) word: Word,
    pub(super) waits: &'a Waits,
    pub(super) figures: Option<Figures>,
    /// For so many times as long as windows in which calls were watched the whole time was.
    pub(super) parked_scale: f64,
    /// The stacks of those who wait, and of those who write.
    pub(super) waiting: Vec<(Nanoseconds<f64>, Vec<Frame>)>,
    /// Where it is given back.
    pub(super) releases: Vec<Caller>,
    pub(super) waiter: Option<Waiter>,
    pub(super) place: WordPlace,
    /// The class of the object, if it is one of Java.
    pub(super) class: Option<String>,
    /// Whether one thread alone was seen to spin on it and to write it: it has a loop over it that does
    /// something else than wait.
    pub(super) is_of_one_thread: bool,
}

impl KnownWord<'_> {
    /// What the writes to the word mean.
    pub(super) fn model(&self) -> Model {
        self.figures.as_ref().map_or(Model::Unknown, |figures| figures.model)
    }

    /// Waits for it in the whole time: how many, and how long they were together.
    pub(super) fn waited(&self, span: Span) -> (u64, Nanoseconds<f64>) {
        let count = self.waits.count as f64 * span.scale;
        let parked = self.waits.parked as f64 * self.parked_scale;
        let time = self.waits.waited * span.scale + self.waits.parked_time * self.parked_scale;
        ((count + parked).round() as u64, time)
    }

    /// Of these waits only the number and the sum are known.
    pub(super) fn wait(&self, span: Span) -> Histogram {
        let (count, time) = self.waited(span);
        spread(&[time.0 / count.max(1) as f64], count.max(1), time)
    }

    pub(super) fn is(&self) -> Is {
        let lock = self.model().is_lock();
        match self.waiter.map(|waiter| waiter.kind) {
            Some(WaitKind::Condition | WaitKind::Channel) => Is::Condition,
            Some(WaitKind::Barrier) => Is::Barrier,
            Some(WaitKind::Join | WaitKind::Once) => Is::Join,
            Some(WaitKind::Idle) => Is::Idle,
            Some(WaitKind::Semaphore) if !lock => Is::Condition,
            Some(_) => Is::Lock,
            None if lock => Is::Lock,
            // Those who are never woken in any window contend for nothing.
            None if self.waits.count + self.waits.parked == 0 => Is::Idle,
            None => Is::Unknown,
        }
    }

    pub(super) fn named(&self) -> Named {
        let kind = match (self.is(), self.waiter.map(|waiter| waiter.kind)) {
            (_, Some(WaitKind::GlobalInterpreterLock)) => WordKind::GlobalInterpreterLock,
            (Is::Lock, Some(WaitKind::ReadWrite)) => WordKind::ReadWriteLock,
            (Is::Lock, _) => WordKind::Lock,
            (Is::Condition, _) => WordKind::Condition,
            (Is::Barrier, _) => WordKind::Barrier,
            (Is::Join, _) => WordKind::Join,
            (Is::Idle, _) => WordKind::Idle,
            (Is::Unknown, _) => WordKind::Unknown,
        };
        let what = self.waiter.map_or("a word", |waiter| waiter.what);
        let name = match (&self.place, self.site().first()) {
            (WordPlace::Symbol { symbol, .. }, _) => format!("{what} {symbol}"),
            (_, Some(frame)) => format!("{what} at {frame}"),
            (place, None) => format!("{what} {place}"),
        };
        Named { kind, name, model: self.model() }
    }

    /// The lock's place in its program, by which locks are told apart.
    pub(super) fn site(&self) -> Vec<Frame> {
        if let WordPlace::Symbol { module, symbol, offset } = &self.place {
            return vec![Frame {
                function: symbol.clone(),
                module: module.clone(),
                offset: *offset,
                line: None,
            }];
        }
        let heaviest = self.waiting.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        heaviest.map_or_else(Vec::new, |(_, frames)| own_part(frames))
    }
}

/// What a word is in an account of time.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) kind: WordKind,
    pub(crate) name: String,
    /// What the writes to it mean.
    pub(crate) model: Model,
}

pub(super) fn known<'a>(
    word: Word,
    waits: &'a Waits,
    ledger: &'a Ledger,
    (computing, span): (Option<Computing>, Span),
    names: Option<&mut Names>,
) -> KnownWord<'a> {
    let watched = ledger.watched.get(&word);
    let mut known = KnownWord {
        word,
        waits,
        figures: watched.map(|watched| figures(watched, computing)),
        parked_scale: ledger.probed.get(&word.pid).map_or(0.0, |probed| span.wall_time / *probed),
        waiting: Vec::new(),
        releases: Vec::new(),
        waiter: None,
        place: WordPlace::Unmapped,
        class: None,
        is_of_one_thread: false,
    };
    if let Some(names) = names {
        known.place = names.word(word.address);
        let is_shared = matches!(known.place, WordPlace::File { .. });
        known.is_of_one_thread = !is_shared && watched.is_some_and(|w| is_of_one_thread(waits, w));
        known.waiting = stacks(names, &waits.scenes);
        let model = known.model();
        let releases = watched.map_or_else(BTreeSet::new, |watched| watched.releases(model));
        known.releases = release_places(&releases, waits, names);
    }
    let mut votes: Vec<(Nanoseconds<f64>, Waiter)> = Vec::new();
    for (time, frames) in &known.waiting {
        let Some(found) = waiter(frames) else { continue };
        match votes.iter_mut().find(|(_, other)| other.what == found.what) {
            Some((sum, _)) => *sum += *time,
            None => votes.push((*time, found)),
        }
    }
    known.waiter = votes.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, waiter)| waiter);
    if let Some(what) = ledger.java_locks.what(word) {
        // Whoever waits for it sleeps elsewhere, and whoever gives it back does so in code without names.
        known.releases.clear();
        known.waiter = Some(Waiter { kind: WaitKind::Mutex, what, parks: true, own: 0 });
    }
    let java = known.waiter.and_then(|waiter| in_java(waiter, word, waits, ledger));
    if let Some((waiter, wait)) = java {
        known.waiter = Some(waiter);
        known.waiting = vec![(waits.waited, wait.frames.clone())];
        known.class = Some(wait.class.clone());
    }
    known
}

/// Whether nobody slept for a word, and who spun on it is who wrote it, one thread.
fn is_of_one_thread(waits: &Waits, watched: &Watched) -> bool {
    let is_spun_on =
        waits.spun > Nanoseconds(0.0) && waits.spun >= waits.waited && waits.parked == 0;
    is_spun_on && waits.threads.len() == 1 && watched.writers == waits.threads
}

/// What the virtual machine says of a wait of threads of Java.
fn in_java<'a>(
    waiter: Waiter,
    word: Word,
    waits: &Waits,
    ledger: &'a Ledger,
) -> Option<(Waiter, &'a JavaWait)> {
    // Of a lock it is known that it is one, and not a condition of one.
    let is_lock = ledger.java_locks.what(word).is_some();
    let kinds: &[JavaWaits] = match waiter.what {
        "Java java.util.concurrent lock" if is_lock => &[JavaWaits::Synchronizer],
        "Java monitor" => &[JavaWaits::Monitor],
        "Java Object.wait" => &[JavaWaits::Notification],
        "Java java.util.concurrent lock" => &[JavaWaits::Synchronizer, JavaWaits::Notification],
        _ => return None,
    };
    let class = ledger.java_locks.class(word);
    let wait = ledger.java.place(word.pid, &waits.threads, kinds, class)?;
    let waiter = match wait.kind {
        JavaWaits::Notification if wait.joins => {
            Waiter { kind: WaitKind::Join, what: "Java Thread.join", own: 0, ..waiter }
        }
        JavaWaits::Notification => {
            Waiter { kind: WaitKind::Condition, what: "Java condition", own: 0, ..waiter }
        }
        _ => Waiter { own: 0, ..waiter },
    };
    Some((waiter, wait))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Tid;

    #[test]
    fn a_word_that_its_only_writer_reads_in_a_loop_is_of_one_thread() {
        let mut waits =
            Waits { waited: Nanoseconds(3e6), spun: Nanoseconds(3e6), ..Waits::default() };
        waits.threads.insert(Tid(1));
        let mut watched = Watched::default();
        // Nobody was seen to write it.
        assert!(!is_of_one_thread(&waits, &watched));
        watched.writers.insert(Tid(1));
        assert!(is_of_one_thread(&waits, &watched));
        let slept = Waits { waited: Nanoseconds(4e6), ..waits.clone() };
        assert!(!is_of_one_thread(&slept, &watched));
        watched.writers.insert(Tid(2));
        assert!(!is_of_one_thread(&waits, &watched));
    }
}
