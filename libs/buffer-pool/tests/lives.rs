//! A pool through the lives of many programs, on a disk that fails now and then: a random search for what the
//! pool does not promise.
//!
//! What is promised, and checked at each step:
//! * What was changed before a sync that returned `Ok` is durable: each sector has that, or something newer.
//! * After a sync of the store failed, none of this pool returns `Ok`.
//! * A program sees what it wrote last, as long as the system has not lost it. If it has, no sync returns `Ok`.
//!   What it only read may become older again: a program before it may have written that, and the system lost it.
//! * An error has a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId, PoolError};
use proptest::prelude::*;

use crate::chooser::chooser;
use crate::disk_events::{Case, DiskEvent, End, case, disk_event, end, pass_on};
use crate::planted::{HidesFailures, SkipsSecondSyncs, Under};
use crate::search;

const SECTOR: usize = 512;
const PAGE: usize = 2 * SECTOR;
const PAGES: u64 = 8;

#[derive(Debug, Clone, Copy)]
enum Step {
    Write(u64),
    Read(u64),
    WriteBackSome(u32),
    Sync,
    Disk(DiskEvent),
    /// The program ends, and the next begins.
    End(End),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0..PAGES).prop_map(Step::Write),
        6 => (0..PAGES).prop_map(Step::Read),
        1 => (0..4u32).prop_map(Step::WriteBackSome),
        4 => Just(Step::Sync),
        10 => disk_event().prop_map(Step::Disk),
        3 => end().prop_map(Step::End),
    ]
}

/// The numbers of the writes that filled the two sectors of a page.
type Content = [u16; 2];

fn content(bytes: &[u8]) -> Content {
    [0, SECTOR].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// One run of the program, from its start to its end.
struct Life<S: Under> {
    pool: BufferPool<S>,
    /// What it saw, or wrote, last.
    seen: BTreeMap<u64, Content>,
    /// Which pages it wrote.
    written: BTreeSet<u64>,
    /// What it changed, of which nothing is known to be durable.
    changed: BTreeMap<u64, u16>,
    /// The cache forgot what an earlier program may have lost.
    is_forgotten: bool,
    losses: u64,
    is_misled: bool,
    sync_failed: bool,
}

struct World<S: Under> {
    frames: u32,
    choose: Box<dyn FnMut(usize) -> usize>,
    disk: Arc<FaultyDisk>,
    life: Life<S>,
    /// The writes so far.
    writes: u16,
    /// Which writes the sectors of a page may have, on the disk or in the cache.
    possible: BTreeMap<u64, [Vec<u16>; 2]>,
    has_failed: bool,
}

fn life<S: Under>(disk: &Arc<FaultyDisk>, frames: u32) -> Life<S> {
    let pool = BufferPool::new(S::over(disk.clone()), Options::new(frames, PAGE));
    Life {
        pool: pool.expect("the options are in range"),
        seen: BTreeMap::new(),
        written: BTreeSet::new(),
        changed: BTreeMap::new(),
        is_forgotten: false,
        losses: disk.losses(),
        is_misled: false,
        sync_failed: false,
    }
}

impl<S: Under> World<S> {
    fn new(case: &Case<Step>) -> Self {
        let disk = Arc::new(FaultyDisk::with_seed(case.seed));
        let life = life(&disk, case.frames);
        let possible = (0..PAGES).map(|page| (page, [vec![0], vec![0]])).collect();
        let choose = Box::new(chooser(case.seed));
        let frames = case.frames;
        Self { frames, choose, disk, life, writes: 0, possible, has_failed: false }
    }

    fn end(&mut self, end: End) {
        let disk = std::mem::take(&mut self.disk);
        // The program lets go of it.
        self.life = life(&self.disk, 0);
        self.disk = disk;
        pass_on(&mut self.disk, end, &mut *self.choose);
        self.life = life(&self.disk, self.frames);
        self.has_failed &= end == End::Kill;
    }

    fn excuse<T>(&self, result: Result<T, PoolError>) -> Result<Option<T>, String> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(PoolError::SyncFailedBefore) if self.life.sync_failed => Ok(None),
            Err(PoolError::Read(..) | PoolError::Write(..) | PoolError::Sync(_))
                if self.has_failed =>
            {
                Ok(None)
            }
            Err(error) => Err(format!("{error}, for no reason")),
        }
    }

    fn read(&mut self, page: u64) -> Result<(), String> {
        let found = self.life.pool.read(PageId(page)).map(|guard| content(&guard));
        let Some(found) = self.excuse(found)? else { return Ok(()) };
        if self.life.is_misled {
            return Ok(());
        }
        let possible = &self.possible[&page];
        if !(possible[0].contains(&found[0]) && possible[1].contains(&found[1])) {
            return Err(format!("page {page} is {found:?}, none of {possible:?}"));
        }
        if self.life.is_forgotten && !self.life.written.contains(&page) {
            return Ok(());
        }
        let seen = *self.life.seen.entry(page).or_insert(found);
        (seen == found)
            .then_some(())
            .ok_or_else(|| format!("page {page} was {seen:?}, is {found:?}"))
    }

    fn write(&mut self, page: u64) -> Result<(), String> {
        let writes = self.writes + 1;
        let result = self.life.pool.write(PageId(page)).map(|mut guard| {
            guard.chunks_mut(2).for_each(|bytes| bytes.copy_from_slice(&writes.to_le_bytes()));
        });
        if self.excuse(result)?.is_some() {
            self.writes = writes;
            self.life.seen.insert(page, [writes; 2]);
            self.life.written.insert(page);
            self.life.changed.insert(page, writes);
            let possible = self.possible.get_mut(&page).expect("all pages are there");
            possible.iter_mut().for_each(|possible| possible.push(writes));
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), String> {
        let result = self.life.pool.sync();
        let fails_for_good = matches!(result, Err(PoolError::Sync(_)));
        if self.excuse(result)?.is_none() {
            self.life.sync_failed |= fails_for_good;
            return Ok(());
        }
        if self.life.sync_failed || self.life.is_misled {
            return Err("a sync was reported after pages had been lost".into());
        }
        for (page, writes) in std::mem::take(&mut self.life.changed) {
            self.possible.insert(page, [vec![writes], vec![writes]]);
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Write(page) => self.write(page)?,
            Step::Read(page) => self.read(page)?,
            Step::WriteBackSome(most) => {
                self.excuse(self.life.pool.write_back_some(most))?;
            }
            Step::Sync => self.sync()?,
            Step::Disk(event) => {
                self.has_failed |= event.is_failure();
                event.happen_to(&self.disk);
                if matches!(event, DiskEvent::DropCache) {
                    self.life.is_forgotten = true;
                    self.life.is_misled |= self.disk.losses() > self.life.losses;
                }
            }
            Step::End(end) => self.end(end),
        }
        Ok(())
    }
}

fn live<S: Under>(case: &Case<Step>) -> Result<(), String> {
    let mut world = World::<S>::new(case);
    let all_read = (0..PAGES).map(Step::Read);
    // At last all works, and is durable.
    let power_fails = Step::End(End::PowerFailure);
    let last = [power_fails].into_iter().chain(all_read.clone());
    let last = last.chain([Step::Write(0), Step::Sync, power_fails]).chain(all_read);
    for (number, step) in case.steps.iter().copied().chain(last).enumerate() {
        world.step(step).map_err(|why| format!("step {number}, {step:?}: {why}"))?;
    }
    Ok(())
}

#[test]
fn in_whatever_order_all_fails_what_was_synced_is_durable() {
    search::find_nothing(6_000, &case(1..6, step()), live::<Arc<FaultyDisk>>);
}

#[test]
#[ignore = "takes minutes; `make soak` runs it"]
fn in_whatever_order_all_fails_what_was_synced_is_durable_searched_for_long() {
    search::find_nothing(300_000, &case(1..6, step()), live::<Arc<FaultyDisk>>);
}

#[test]
fn the_search_finds_syncs_that_are_left_out() {
    search::find_something(6_000, &case(1..6, step()), live::<SkipsSecondSyncs>);
}

#[test]
fn the_search_finds_a_failed_sync_that_is_not_reported() {
    search::find_something(6_000, &case(1..6, step()), live::<HidesFailures>);
}
