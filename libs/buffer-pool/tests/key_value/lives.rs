//! A tree through the lives of many programs, of which some end by themselves, some are killed, and some lose
//! their power, on a disk that fails now and then: a random search for what the tree does not promise.
//!
//! What is promised, and checked at each step:
//! * Whoever opens the tree finds a state that was committed: the one whose commit was reported last, or one
//!   whose commit failed after that. It is never a mixture, and never no tree.
//! * Once a program has changed what it found, what it found is durable.
//! * A change or a commit fails only if something failed below, and the tree is then what it was.

use std::cell::Cell;
use std::sync::Arc;

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options};
use proptest::prelude::*;

use super::program::node::PAGE;
use super::program::tree::{Tree, TreeError};
use super::{Map, read_all};
use crate::chooser::chooser;
use crate::disk_events::{Case, DiskEvent, End, case, disk_event, end, pass_on};
use crate::planted::{HidesFailures, SkipsFirstSync, SkipsSameWrites, SkipsSecondSyncs, Under};
use crate::search;

#[derive(Debug, Clone, Copy)]
enum Step {
    Put(u8, u16),
    Remove(u8),
    Commit,
    Disk(DiskEvent),
    /// The program ends. The next begins at the next change.
    End(End),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..16u8, 0..768u16).prop_map(|(key, bytes)| Step::Put(key, bytes)),
        3 => (0..16u8).prop_map(Step::Remove),
        4 => Just(Step::Commit),
        10 => disk_event().prop_map(Step::Disk),
        3 => end().prop_map(Step::End),
    ]
}

/// How often something was seen that a search has to meet.
#[derive(Debug, Default)]
struct Met {
    /// A commit failed, and a later one in the same life did not.
    repeated: Cell<u32>,
    /// A state was found whose commit had failed.
    found_newer: Cell<u32>,
    /// A power failure came after a page was lost.
    lost_then_power: Cell<u32>,
    /// A program found another's state on a disk that failed at once.
    failed_again: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// One run of the program, from its start to its end.
struct Life<S: Under> {
    tree: Tree<S>,
    present: Map,
    /// Nobody else has changed what this one found, or made it durable.
    is_new: bool,
    /// The disk's losses before it.
    losses: u64,
    /// A page that it wrote is not what it wrote any more, so it may see anything, but may not commit.
    is_misled: bool,
    has_failed_commit: bool,
}

struct World<'a, S: Under> {
    frames: u32,
    met: &'a Met,
    choose: Box<dyn FnMut(usize) -> usize>,
    disk: Arc<FaultyDisk>,
    life: Option<Life<S>>,
    /// What the next to open the tree may find. The first was reported.
    possible: Vec<Map>,
    /// The disk has nothing but what is durable.
    is_settled: bool,
    /// Something failed since the last failure of the power, so errors have a reason.
    has_failed: bool,
    reads_fail: bool,
}

impl<S: Under> World<'_, S> {
    fn open(&mut self) -> Result<(), String> {
        if self.life.is_some() {
            return Ok(());
        }
        let losses = self.disk.losses();
        let pool = BufferPool::new(S::over(self.disk.clone()), Options::new(self.frames, PAGE));
        let tree = Tree::open(pool.expect("the options are in range"));
        let found = tree.and_then(|tree| Ok((read_all(&tree)?, tree)));
        let (present, tree) = match found {
            Ok(found) => found,
            Err(TreeError::Pool(_)) if self.reads_fail => return Ok(()),
            Err(error) => return Err(format!("the tree cannot be opened: {error}")),
        };
        if !self.possible.contains(&present) {
            let [found, possible] = [brief(&present), self.possible.iter().map(brief).collect()];
            return Err(format!("found {found}, which is none of {possible}"));
        }
        if present != self.possible[0] {
            count(&self.met.found_newer);
        }
        if self.is_settled {
            self.possible = vec![present.clone()];
        }
        let (is_new, is_misled, has_failed_commit) = (true, false, false);
        self.life = Some(Life { tree, present, is_new, losses, is_misled, has_failed_commit });
        Ok(())
    }

    /// Ends the program that runs, in this way.
    fn end(&mut self, end: End) {
        self.life = None;
        let by_power = end == End::PowerFailure;
        if by_power && self.disk.losses() > 0 {
            count(&self.met.lost_then_power);
        }
        pass_on(&mut self.disk, end, &mut *self.choose);
        self.is_settled = by_power;
        self.has_failed &= !by_power;
        self.reads_fail = false;
    }

    /// What a change or a commit came to. Returns whether it was done.
    fn judge(&self, what: &str, result: Result<(), TreeError>) -> Result<bool, String> {
        let is_misled = self.life.as_ref().is_some_and(|life| life.is_misled);
        match result {
            Ok(()) => Ok(true),
            Err(_) if is_misled => Ok(false),
            Err(TreeError::Pool(_)) if self.has_failed => Ok(false),
            Err(error) => Err(format!("{what}: {error}, for no reason")),
        }
    }

    fn change(&mut self, key: u8, value: Option<Vec<u8>>) -> Result<(), String> {
        self.open()?;
        let Some(life) = &self.life else { return Ok(()) };
        let key = vec![key; 1 + usize::from(key)];
        let result = match &value {
            Some(value) => life.tree.put(&key, value),
            None => life.tree.remove(&key),
        };
        let is_done = self.judge("a change", result)?;
        let Some(life) = self.life.as_mut().filter(|_| is_done) else { return Ok(()) };
        self.is_settled = false;
        if std::mem::take(&mut life.is_new) {
            self.possible = vec![life.present.clone()];
        }
        match value {
            Some(value) => life.present.insert(key, value),
            None => life.present.remove(&key),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<(), String> {
        self.open()?;
        let Some(life) = &self.life else { return Ok(()) };
        let result = life.tree.commit();
        self.is_settled = false;
        let is_done = self.judge("a commit", result)?;
        let Some(life) = &mut self.life else { return Ok(()) };
        if !is_done {
            if std::mem::take(&mut life.is_new) {
                count(&self.met.failed_again);
            }
            life.has_failed_commit = true;
            self.possible.push(life.present.clone());
            return Ok(());
        }
        if life.is_misled {
            return Err("a commit was reported though a page before it was lost".into());
        }
        if std::mem::take(&mut life.has_failed_commit) {
            count(&self.met.repeated);
        }
        life.is_new = false;
        self.possible = vec![life.present.clone()];
        Ok(())
    }

    /// The program reads all.
    fn look(&self) -> Result<(), String> {
        let Some(life) = self.life.as_ref().filter(|life| !life.is_misled) else { return Ok(()) };
        match read_all(&life.tree) {
            Ok(found) if found == life.present => Ok(()),
            Ok(found) => Err(format!("sees {}, not {}", brief(&found), brief(&life.present))),
            Err(TreeError::Pool(_)) if self.has_failed => Ok(()),
            Err(error) => Err(format!("cannot read: {error}, for no reason")),
        }
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Put(key, bytes) => self.change(key, Some(vec![bytes as u8; bytes.into()]))?,
            Step::Remove(key) => self.change(key, None)?,
            Step::Commit => self.commit()?,
            Step::Disk(event) => self.disk_event(event),
            Step::End(end) => self.end(end),
        }
        self.look()
    }

    fn disk_event(&mut self, event: DiskEvent) {
        self.has_failed |= event.is_failure();
        event.happen_to(&self.disk);
        match event {
            // It may be stopped while it opens the tree.
            DiskEvent::StopAfter(_) => self.reads_fail = true,
            DiskEvent::FailReads(fail) => self.reads_fail |= fail,
            DiskEvent::DropCache => {
                let losses = self.disk.losses();
                if let Some(life) = &mut self.life {
                    life.is_misled |= losses > life.losses;
                }
            }
            _ => {}
        }
    }
}

fn brief(map: &Map) -> String {
    let entry = |(key, value): (&Vec<u8>, &Vec<u8>)| format!("{}:{}", key.len() - 1, value.len());
    format!("{{{}}} ", map.iter().map(entry).collect::<Vec<_>>().join(" "))
}

fn live<S: Under>(case: &Case<Step>, met: &Met) -> Result<(), String> {
    let mut world = World::<S> {
        frames: case.frames,
        met,
        choose: Box::new(chooser(case.seed)),
        disk: Arc::new(FaultyDisk::with_seed(case.seed)),
        life: None,
        possible: vec![Map::new()],
        is_settled: true,
        has_failed: false,
        reads_fail: false,
    };
    let steps = case.steps.iter().enumerate();
    // At last all works, and is durable.
    let [killed, power_fails] = [End::Kill, End::PowerFailure].map(Step::End);
    let last = [power_fails, Step::Put(0, 1), Step::Commit, killed, Step::Put(1, 2)];
    let last = last.iter().map(|step| (case.steps.len(), step));
    for (number, &step) in steps.chain(last) {
        world.step(step).map_err(|why| format!("step {number}, {step:?}: {why}"))?;
    }
    world.end(End::PowerFailure);
    world.open().map_err(|why| format!("at the end: {why}"))
}

fn search<S: Under>(cases: u32) -> Met {
    let met = Met::default();
    search::find_nothing(cases, &case(1..8, step()), |case| live::<S>(case, &met));
    met
}

#[test]
fn in_whatever_order_all_fails_the_tree_is_one_that_was_committed() {
    let met = search::<Arc<FaultyDisk>>(6_000);
    let each = [&met.repeated, &met.found_newer, &met.lost_then_power, &met.failed_again];
    assert!(each.iter().all(|count| count.get() > 20), "{met:?}");
}

fn finds<S: Under>() {
    search::find_something(6_000, &case(1..8, step()), |case| live::<S>(case, &Met::default()));
}

/// What if the tree did not sync what it found?
#[test]
fn the_search_finds_a_first_sync_that_is_left_out() {
    finds::<SkipsFirstSync>();
}

/// What if it did not sync its root?
#[test]
fn the_search_finds_second_syncs_that_are_left_out() {
    finds::<SkipsSecondSyncs>();
}

/// What if it synced what it found, and did not write it once more?
#[test]
fn the_search_finds_what_is_not_written_as_it_is_there() {
    finds::<SkipsSameWrites>();
}

#[test]
fn the_search_finds_a_failed_sync_that_is_not_reported() {
    finds::<HidesFailures>();
}

#[test]
#[ignore = "takes minutes; `make soak` runs it"]
fn in_whatever_order_all_fails_the_tree_is_one_that_was_committed_searched_for_long() {
    search::<Arc<FaultyDisk>>(200_000);
}
