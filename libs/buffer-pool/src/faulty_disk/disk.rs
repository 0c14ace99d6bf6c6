//! What a faulty disk has, and what the page cache over it shows.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::page::PageId;

/// What a disk writes as a whole or not at all, in bytes.
const SECTOR: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Disk {
    /// What is on the disk for certain.
    durable: BTreeMap<PageId, Vec<u8>>,
    /// What was written since, in this order.
    written: Vec<Written>,
    /// What the cache shows otherwise than the disk: pages that are dirty, or lost.
    cache: BTreeMap<PageId, Cached>,
    /// The system could not write a page, and no sync has said so yet.
    unreported: bool,
    choices: Choices,
    pub(super) operations: u64,
    pub(super) losses: u64,
    /// From this operation on, all fail.
    pub(super) stops_at: Option<u64>,
    /// The number of the one operation that fails.
    pub(super) fails_at: Option<u64>,
    pub(super) failing_reads: bool,
    pub(super) failing_writes: bool,
    pub(super) failing_syncs: bool,
}

/// A page that was written to the cache.
#[derive(Debug)]
struct Written {
    page: PageId,
    bytes: Arc<[u8]>,
    /// Which sectors the disk was given, once that is decided. Before that the page is dirty, and the disk may be
    /// given any.
    given: Option<Vec<bool>>,
}

#[derive(Debug)]
struct Cached {
    bytes: Arc<[u8]>,
    is_dirty: bool,
}

/// Numbers that a seed determines (SplitMix64).
#[derive(Debug, Default)]
struct Choices(u64);

impl Choices {
    /// Returns a number below this one.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n as u64) as usize
    }

    /// Chooses no sector, all, or some.
    fn sectors(&mut self, bytes: usize) -> Vec<bool> {
        let kind = self.below(3);
        let mut choose = || kind == 1 || (kind == 2 && self.below(2) == 0);
        (0..bytes.div_ceil(SECTOR)).map(|_| choose()).collect()
    }
}

/// What an operation comes to.
enum Outcome {
    Success,
    /// It fails, and the disk goes on.
    Failure,
    /// The power fails meanwhile, or the program is killed.
    Stop,
    /// It was stopped before.
    Off,
}

fn overlay(old: &mut [u8], new: &[u8], mut chosen: impl FnMut(usize) -> bool) {
    let sectors = old.chunks_mut(SECTOR).zip(new.chunks(SECTOR)).enumerate();
    sectors
        .filter(|(sector, _)| chosen(*sector))
        .for_each(|(_, (old, new))| old.copy_from_slice(new));
}

fn failure(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}

fn stopped() -> io::Error {
    failure("the disk has no power")
}

impl Disk {
    pub(super) fn with_seed(seed: u64) -> Self {
        Self { choices: Choices(seed), ..Self::default() }
    }

    fn is_off(&self) -> bool {
        self.stops_at.is_some_and(|last| self.operations > last)
    }

    /// Begins an operation that changes the disk.
    fn begin(&mut self, is_failing: bool) -> Outcome {
        let was_off = self.is_off();
        let number = self.operations;
        self.operations += 1;
        match (self.is_off(), self.fails_at == Some(number) || is_failing) {
            (true, _) if was_off => Outcome::Off,
            (true, _) => Outcome::Stop,
            (false, true) => Outcome::Failure,
            (false, false) => Outcome::Success,
        }
    }

    /// Says what the disk itself would show of a page.
    fn show_disk(&self, page: PageId, into: &mut [u8]) {
        match self.durable.get(&page) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => into.fill(0),
        }
        for written in self.written.iter().filter(|written| written.page == page) {
            if let Some(given) = &written.given {
                overlay(into, &written.bytes, |sector| given[sector]);
            }
        }
    }

    fn show(&self, page: PageId, into: &mut [u8]) {
        match self.cache.get(&page) {
            Some(cached) => into.copy_from_slice(&cached.bytes),
            None => self.show_disk(page, into),
        }
    }

    pub(super) fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        if self.failing_reads || self.is_off() {
            return Err(failure("the disk cannot read"));
        }
        self.show(page, into);
        Ok(())
    }

    fn put(&mut self, page: PageId, bytes: Arc<[u8]>) {
        self.cache.insert(page, Cached { bytes: bytes.clone(), is_dirty: true });
        self.written.push(Written { page, bytes, given: None });
    }

    /// Puts a part of a page into the cache.
    fn put_part(&mut self, page: PageId, from: &[u8]) {
        let chosen = self.choices.sectors(from.len());
        if chosen.contains(&true) {
            let mut bytes = vec![0; from.len()];
            self.show(page, &mut bytes);
            overlay(&mut bytes, from, |sector| chosen[sector]);
            self.put(page, bytes.into());
        }
    }

    pub(super) fn write(&mut self, page: PageId, from: &[u8]) -> io::Result<()> {
        match self.begin(self.failing_writes) {
            Outcome::Success => {
                self.put(page, from.into());
                Ok(())
            }
            Outcome::Failure => {
                self.put_part(page, from);
                Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is full"))
            }
            Outcome::Stop => {
                self.put_part(page, from);
                Err(stopped())
            }
            Outcome::Off => Err(stopped()),
        }
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        match self.begin(self.failing_syncs) {
            Outcome::Success => {}
            Outcome::Failure => self.lose_writes(),
            Outcome::Stop | Outcome::Off => return Err(stopped()),
        }
        if std::mem::take(&mut self.unreported) {
            return Err(failure("the disk could not write"));
        }
        for Written { page, bytes, given } in std::mem::take(&mut self.written) {
            let old = self.durable.entry(page).or_insert_with(|| vec![0; bytes.len()]);
            overlay(old, &bytes, |sector| given.as_ref().is_none_or(|given| given[sector]));
        }
        // What is lost stays there: the cache does not know.
        self.cache.retain(|_, cached| !cached.is_dirty);
        Ok(())
    }

    /// Gives the disk dirty pages, which fails: one at least is lost, and others reach it or stay dirty.
    pub(super) fn lose_writes(&mut self) {
        let dirty = self.cache.iter().filter(|(_, cached)| cached.is_dirty);
        let dirty: Vec<PageId> = dirty.map(|(page, _)| *page).collect();
        if dirty.is_empty() {
            return;
        }
        let surely_lost = self.choices.below(dirty.len());
        for (index, page) in dirty.into_iter().enumerate() {
            match self.choices.below(3) {
                _ if index == surely_lost => self.decide(page, false),
                0 => self.decide(page, false),
                1 => self.decide(page, true),
                _ => {}
            }
        }
        self.unreported = true;
    }

    /// Makes a dirty page a clean one: the disk has it, or it is lost. Older versions of a lost page may have
    /// reached the disk before.
    fn decide(&mut self, page: PageId, has_it: bool) {
        for written in self.written.iter_mut().filter(|written| written.page == page) {
            let choose = || match has_it {
                true => vec![true; written.bytes.len().div_ceil(SECTOR)],
                false => self.choices.sectors(written.bytes.len()),
            };
            written.given.get_or_insert_with(choose);
        }
        if has_it {
            self.cache.remove(&page);
        } else if let Some(cached) = self.cache.get_mut(&page) {
            cached.is_dirty = false;
            self.losses += 1;
        }
    }

    pub(super) fn drop_cache(&mut self) {
        self.cache.retain(|_, cached| cached.is_dirty);
    }

    pub(super) fn after_power_failure(mut self, choose: &mut dyn FnMut(usize) -> usize) -> Self {
        let mut durable = self.durable;
        // A disk may write in another order. The later of two writes of a sector may be lost, or the earlier.
        while !self.written.is_empty() {
            let Written { page, bytes, given } =
                self.written.swap_remove(choose(self.written.len()));
            let old = durable.entry(page).or_insert_with(|| vec![0; bytes.len()]);
            let was_given = |sector: usize| given.as_ref().is_none_or(|given| given[sector]);
            match choose(3) {
                0 => {}
                1 => overlay(old, &bytes, was_given),
                _ => overlay(old, &bytes, |sector| was_given(sector) && choose(2) == 0),
            }
        }
        let Self { choices, operations, losses, .. } = self;
        Self { durable, choices, operations, losses, ..Self::default() }
    }

    pub(super) fn after_kill(mut self) -> Self {
        let has_dirty_pages = self.cache.values().any(|cached| cached.is_dirty);
        if !has_dirty_pages && self.choices.below(4) == 0 {
            // Nobody has the file open, so the system may forget what it knew of it.
            self.cache.clear();
            self.unreported = false;
        }
        Self {
            stops_at: None,
            fails_at: None,
            failing_reads: false,
            failing_writes: false,
            failing_syncs: false,
            ..self
        }
    }
}
