//! One group of tasks that fight for locks, confined to as many cores as serve it best.
//!
//! It is the migration state machine of lock-contention-aware scheduling:
//!
//! ```text
//!        waits much, by votes              best number known
//! Free ──────────────────────▶ Searching ────────────────────▶ Holding ◀──▶ Probing
//!   ▲                              │                              │    now and then, whether
//!   │     nothing to be gained     │     waits for nothing, by    │    a neighbour is better
//!   └──────────────────────────────┴──────── votes ───────────────┘
//! ```
//!
//! After each migration a window passes before anything is believed, since tasks first have to get
//! where they are sent. What starts and ends confinement needs votes. A measurement of the search is
//! the mean of several windows without the extremes. Later on, each window adds to what is known of the
//! number that is held, and each probe to what is known of a neighbour; the neighbour takes over once
//! the difference is certain. What did not help is tried more and more rarely.
//!
//! If more than one core spins on average, the locks are busy all the time, and would be on one core less.
//! So if acquisitions are not known, all cores are not among the numbers that are tried: time without waiting
//! does not show how much longer sections take beside a core that spins.
//!
//! A lock has a holder, who does not wait and gets a task's share of the cores, on however few they are. If much
//! less than that share is spent on anything but spinning, in two windows in a row, nobody holds what all wait
//! for: they spin until all have come, as at a barrier, and each that spins keeps one from coming. Then all cores
//! are given back at once.

use alloc::vec::Vec;

use crate::controller::{Controller, Observation};
use crate::evidence::Evidence;
use crate::policy::GroupState;
use crate::score::{Progress, Score};
use crate::search::{Search, Step};
use crate::share::Share;
use crate::votes::Votes;

/// The constants of [`LockAware`](crate::LockAware), none of which is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockAwareOptions {
    /// What tells how much is done.
    pub progress: Progress,
    /// Tasks that wait for more than this share of their time are contended. A quarter is more than
    /// the best static number of cores leaves on the loads of the thesis, so that what runs best
    /// without help is left alone.
    pub enter: Share,
    /// Confined tasks that wait for less than this share, and could use more cores, are let go at once.
    pub leave: Share,
    /// In how many of the last [`windows`](Self::windows) that has to be so.
    pub votes: u32,
    /// How many of the last windows vote.
    pub windows: u32,
    /// How many windows pass after a migration before one is believed.
    pub settle: u32,
    /// How many windows make a coarse measurement.
    pub coarse: u32,
    /// How many windows make one that tells neighbouring numbers of cores apart.
    pub fine: u32,
    /// By how many per cent confinement has to get more done to be worth it at all.
    pub gain: u32,
    /// By how many per cent more useful cores there have to be without confinement, if useful cores are all
    /// that is known: some of their use is that sections take longer.
    pub doubt: u32,
    /// How many windows a neighbour of the number that is held is tried at a time.
    pub trial: u32,
    /// How many windows pass before the first probe. After one that was certainly in vain it is twice as
    /// many.
    pub probe: u32,
    /// How many windows at most pass between two probes, or between two searches in vain.
    pub patience: u32,
}

impl Default for LockAwareOptions {
    fn default() -> Self {
        Self {
            progress: Progress::default(),
            enter: Share::percent(25),
            leave: Share::percent(4),
            votes: 4,
            windows: 5,
            settle: 1,
            coarse: 3,
            fine: 8,
            gain: 2,
            doubt: 15,
            trial: 8,
            probe: 16,
            patience: 512,
        }
    }
}

impl LockAwareOptions {
    /// How many windows a search among 1 to `most` cores takes at the most, from the first window with
    /// contention.
    #[must_use]
    pub fn longest_search(&self, most: u32) -> u32 {
        // Doublings from one core, and two halvings for each of them: one on either side.
        let steps = 3 * (u32::BITS - most.max(1).leading_zeros()) + 2;
        self.windows + steps * (self.settle + self.coarse.max(self.fine))
    }
}

/// With a larger share of waiting, what is done without confinement is not compared with.
const TRUSTED: Share = Share::percent(75);

/// A holder gets a task's share of the cores. With less than one part in so many of that, there is none.
const UNHELD: u64 = 3;

/// What ran for less than this, in millionths of a core, says nothing.
const LEAST: u64 = 100_000;

#[derive(Debug, Clone)]
enum State {
    Free { pause: u32 },
    Searching { search: Search, trial: Trial, unconfined: Option<Score> },
    Holding { settle: u32, ended: Votes, drifted: Votes, until_probe: u32 },
    Probing { candidate: u32, settle: u32, left: u32 },
}

/// A number of cores that is being measured.
#[derive(Debug, Clone)]
struct Trial {
    cores: u32,
    settle: u32,
    needed: u32,
    scores: Vec<Score>,
}

/// Decides for one group.
#[derive(Debug, Clone)]
pub(crate) struct Confinement {
    options: LockAwareOptions,
    state: State,
    contended: Votes,
    /// Whether more than one core spins, so that the lock is busy on one core less, too.
    surplus: Votes,
    /// The most cores that are tried, if that is less than all.
    ceiling: Option<u32>,
    /// What was done in windows with contention while nothing was confined.
    unconfined: Vec<Score>,
    /// The best number of cores, once known.
    best: Option<u32>,
    /// The share of waiting with it, when it was found.
    waiting: Option<Share>,
    /// How long the next probe waits, and the next search after one in vain.
    probe: u32,
    retry: u32,
    /// In how many windows in a row nobody held what all waited for.
    unheld: u32,
    /// How long confinement lasts at least before it is given up for lack of waiting.
    hold: u32,
    held: u32,
    /// What is known of the number that is held, of one core less and of one more.
    here: Evidence,
    less: Evidence,
    more: Evidence,
    /// Whether the next probe looks at more cores.
    upward: bool,
}

impl Confinement {
    // ---- free -----------------------------------------------------------------------------

    fn free(&mut self, pause: u32, seen: &Observation) -> Option<u32> {
        let contended = seen.waiting > self.options.enter && seen.most > 1;
        if contended {
            self.unconfined.push(believed(&self.options, seen, seen.most));
            if self.unconfined.len() > self.options.windows as usize {
                self.unconfined.remove(0);
            }
        }
        let carried = self.contended.cast(contended);
        let surplus = self.surplus.cast(seen.spinning > 1_000_000);
        self.state = State::Free { pause: pause.saturating_sub(1) };
        if !carried || pause > 0 {
            return None;
        }
        self.contended.clear();
        // Acquisitions say how many are best even so.
        let is_known = seen.by == Progress::Acquisitions;
        self.ceiling = (surplus && !is_known).then(|| seen.most - 1);
        match self.best {
            // It was let go, and the contention is back.
            Some(cores) if cores < seen.most => Some(self.start_holding(cores)),
            _ => self.start_search(seen),
        }
    }

    fn start_search(&mut self, seen: &Observation) -> Option<u32> {
        let unconfined = (!self.unconfined.is_empty()).then(|| mean(&mut self.unconfined));
        self.unconfined.clear();
        self.best = None;
        let useful = u64::from(seen.most) * u64::from(seen.waiting.rest().as_millionths());
        let mut search = Search::new(self.most(seen), (useful / 1_000_000) as u32);
        // Where nearly all is waiting, little noise in that share is much noise in the rest of it.
        let unconfined = unconfined.filter(|_| seen.waiting <= TRUSTED && self.ceiling.is_none());
        if let Some(unconfined) = unconfined {
            search.measured(seen.most, unconfined.0);
        }
        self.go_on(search, unconfined, seen)
    }

    /// The most cores that are worth a try.
    fn most(&self, seen: &Observation) -> u32 {
        self.ceiling.map_or(seen.most, |ceiling| ceiling.clamp(1, seen.most))
    }

    fn release(&mut self, pause: u32) -> Option<u32> {
        self.state = State::Free { pause };
        self.contended.clear();
        self.surplus.clear();
        self.unconfined.clear();
        None
    }

    // ---- searching ------------------------------------------------------------------------

    fn search(&mut self, seen: &Observation) -> Option<u32> {
        let State::Searching { search, trial, unconfined } = &mut self.state else { return None };
        if trial.settle > 0 {
            trial.settle -= 1;
            return Some(trial.cores);
        }
        let score = believed(&self.options, seen, trial.cores);
        trial.scores.push(score);
        if (trial.scores.len() as u32) < trial.needed {
            return Some(trial.cores);
        }
        search.measured(trial.cores, mean(&mut trial.scores).0);
        let (search, unconfined) = (search.clone(), *unconfined);
        self.go_on(search, unconfined, seen)
    }

    fn go_on(
        &mut self,
        search: Search,
        unconfined: Option<Score>,
        seen: &Observation,
    ) -> Option<u32> {
        match search.next() {
            Step::Measure { cores, fine } => {
                let needed = if fine { self.options.fine } else { self.options.coarse };
                let trial = Trial {
                    cores,
                    settle: self.options.settle,
                    needed: needed.max(1),
                    scores: Vec::new(),
                };
                self.state = State::Searching { search, trial, unconfined };
                Some(cores)
            }
            Step::Done { cores } => {
                let done = search.score_of(cores);
                let gain = match seen.by {
                    Progress::Acquisitions => self.options.gain,
                    // It has been doubted already.
                    Progress::UsefulCores => 0,
                };
                let worth = unconfined.is_none_or(|all| done.beats(all, gain));
                if worth && cores < seen.most {
                    self.retry = self.options.probe;
                    return Some(self.start_holding(cores));
                }
                let pause = self.retry;
                self.retry = self.longer(self.retry);
                self.release(pause)
            }
        }
    }

    // ---- holding --------------------------------------------------------------------------

    fn start_holding(&mut self, cores: u32) -> u32 {
        self.best = Some(cores);
        self.waiting = None;
        self.held = 0;
        (self.here, self.less, self.more) = Default::default();
        self.keep_holding()
    }

    fn keep_holding(&mut self) -> u32 {
        let vote = Votes::new(self.options.votes, self.options.windows);
        self.state = State::Holding {
            settle: self.options.settle,
            ended: vote,
            drifted: vote,
            until_probe: self.probe,
        };
        self.best()
    }

    fn hold(&mut self, cores: u32, seen: &Observation) -> Option<u32> {
        let (leave, hold, enter) = (self.options.leave, self.hold, self.options.enter);
        let State::Holding { settle, ended, drifted, until_probe } = &mut self.state else {
            return None;
        };
        if cores >= seen.most {
            // So few tasks are left that nothing is confined.
            let pause = self.options.windows;
            return self.release(pause);
        }
        if *settle > 0 {
            *settle -= 1;
            return Some(cores);
        }
        self.held = self.held.saturating_add(1);
        self.here.add(seen.score);
        let usual = *self.waiting.get_or_insert(seen.waiting);
        let over = ended.cast(seen.waiting < leave && seen.starved);
        let much = usual.as_millionths().saturating_mul(2).max(enter.as_millionths());
        let worse = drifted.cast(seen.waiting > Share::millionths(much));
        if over && self.held >= hold {
            // If that was wrong, it is held for longer the next time.
            self.hold = self.longer(self.hold);
            return self.release(0);
        }
        if worse {
            self.unconfined.clear();
            self.probe = self.options.probe;
            return self.start_search(seen);
        }
        *until_probe = until_probe.saturating_sub(1);
        if *until_probe > 0 {
            return Some(cores);
        }
        Some(self.start_probe(cores, self.most(seen)))
    }

    // ---- probing --------------------------------------------------------------------------

    fn start_probe(&mut self, cores: u32, most: u32) -> u32 {
        let candidate = match self.upward {
            true if cores < most => cores + 1,
            _ if cores > 1 => cores - 1,
            _ if cores < most => cores + 1,
            // There is no other number to try.
            _ => return self.keep_holding(),
        };
        let (settle, left) = (self.options.settle, self.options.trial.max(1));
        self.state = State::Probing { candidate, settle, left };
        candidate
    }

    fn probe(&mut self, cores: u32, seen: &Observation) -> Option<u32> {
        let State::Probing { candidate, settle, left } = &mut self.state else { return None };
        let candidate = *candidate;
        if candidate > seen.most {
            return Some(self.keep_holding());
        }
        if *settle > 0 {
            *settle -= 1;
            return Some(candidate);
        }
        *left -= 1;
        let over = *left == 0;
        let known = if candidate > cores { &mut self.more } else { &mut self.less };
        known.add(believed(&self.options, seen, candidate));
        if !over {
            return Some(candidate);
        }
        if known.exceeds(&self.here) {
            // There may be more in the same direction.
            self.probe = self.options.probe;
            return Some(self.start_holding(candidate));
        }
        // What is not certainly worse is tried again a little later only.
        self.probe = if self.here.exceeds(known) {
            self.longer(self.probe)
        } else {
            (self.probe + self.probe / 4).min(self.options.patience)
        };
        self.upward = !self.upward;
        Some(self.keep_holding())
    }

    /// Whether the tasks are seen to wait for all of them rather than for who holds a lock.
    fn is_of_all(&mut self, seen: &Observation) -> bool {
        let has_settled = match &self.state {
            State::Searching { trial, .. } => trial.settle == 0,
            State::Holding { settle, .. } | State::Probing { settle, .. } => *settle == 0,
            State::Free { .. } => false,
        };
        // Acquisitions say themselves how much is done, and who sleeps takes no core from a holder.
        // Others may take any part of the cores: only the shares of what is left are compared.
        let ran = seen.useful.saturating_add(seen.spinning);
        let share = ran / u64::from(seen.tasks.max(1));
        let is_unheld = has_settled
            && seen.by == Progress::UsefulCores
            && ran > LEAST
            && seen.useful < share / UNHELD;
        self.unheld = if is_unheld { self.unheld + 1 } else { 0 };
        self.unheld >= 2
    }

    fn longer(&self, windows: u32) -> u32 {
        windows.saturating_mul(2).clamp(1, self.options.patience.max(1))
    }
}

impl Controller for Confinement {
    type Options = LockAwareOptions;

    fn new(options: LockAwareOptions) -> Self {
        Self {
            options,
            state: State::Free { pause: 0 },
            contended: Votes::new(options.votes, options.windows),
            surplus: Votes::new(options.votes, options.windows),
            ceiling: None,
            unconfined: Vec::new(),
            best: None,
            waiting: None,
            probe: options.probe,
            retry: options.probe,
            unheld: 0,
            hold: options.probe,
            held: 0,
            here: Evidence::default(),
            less: Evidence::default(),
            more: Evidence::default(),
            upward: true,
        }
    }

    fn progress(&self) -> Option<Progress> {
        Some(self.options.progress)
    }

    fn observe(&mut self, seen: &Observation) -> Option<u32> {
        if self.is_of_all(seen) {
            self.best = None;
            let pause = self.retry;
            self.retry = self.longer(self.retry);
            return self.release(pause);
        }
        let cores = match &self.state {
            State::Free { pause } => self.free(*pause, seen),
            State::Searching { .. } => self.search(seen),
            State::Holding { .. } => self.hold(self.best(), seen),
            State::Probing { .. } => self.probe(self.best(), seen),
        };
        cores.map(|cores| cores.clamp(1, seen.most.max(1)))
    }

    fn state(&self) -> GroupState {
        match self.state {
            State::Free { .. } => GroupState::Free,
            State::Searching { .. } => GroupState::Searching,
            State::Holding { .. } => GroupState::Holding,
            State::Probing { .. } => GroupState::Probing,
        }
    }

    fn best(&self) -> u32 {
        self.best.unwrap_or(1)
    }
}

/// What is believed of what was done on so many cores.
fn believed(options: &LockAwareOptions, seen: &Observation, cores: u32) -> Score {
    match seen.by {
        Progress::UsefulCores if cores >= seen.most => seen.score.less(options.doubt),
        Progress::UsefulCores | Progress::Acquisitions => seen.score,
    }
}

/// The mean of some scores, of three or more without the least and the most; nothing for none.
fn mean(scores: &mut [Score]) -> Score {
    scores.sort_unstable();
    let kept = if scores.len() > 2 { &scores[1..scores.len() - 1] } else { scores };
    let sum: u128 = kept.iter().map(|score| u128::from(score.0)).sum();
    Score((sum / kept.len().max(1) as u128) as u64)
}
