//! The memory of the simulated machine: who holds each cache line, and how long it takes to get it.
//!
//! A line has at most one owner, which wrote it last, and a set of sharers. Its home is the node of
//! the core that touched it first. A request that finds the line or its home busy waits its turn.
//!
//! On some machines a read takes a line from an owner that has written it, so that the reader can write it at once, as it
//! mostly does with what it shares with others in turn. If somebody else reads it before that, both have a copy.
//!
//! A read keeps the line busy for the line's service time. If a modified copy has to be fetched
//! first, the line is busy for the whole transfer. A write keeps the line busy until the writer has
//! it and all other copies are gone.
//!
//! On some machines the last-level caches know what their cores hold. There, a clean line is fetched
//! below each of these caches once, and any number of cores then read it there at a time. Many
//! waiters on one word are much cheaper on such a machine.

mod frames;
mod hierarchy;
#[cfg(test)]
mod invariants;
mod kept;
mod layers;
mod line;
mod losses;
mod numbers;
mod queues;
mod visit;

use std::ops::Range;

use kilocore_platform::{Cycles, NodeId};

pub(crate) use self::frames::FIRST_ADDRESS;
use self::kept::{Kept, Request};
use self::layers::Layers;
use self::line::{Line, NOBODY, NodeSet};
pub(crate) use self::losses::{Loss, Lost};
use self::numbers::LineNumbers;
use self::queues::Queues;
pub(crate) use self::visit::Visit;
use crate::agenda::Epoch;
use crate::copies_below::CopiesBelow;
use crate::costs::{CoreLocation, Costs};
use crate::ids::{CacheId, DomainId, LineId, TaskId};
use crate::sharers::Sharers;
use crate::table::Table;
use crate::tags::Tags;
use crate::uncached::Uncached;

/// What a core wants to do to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// A plain store: the core goes on while the store waits in its buffer.
    Write,
    /// An atomic read-modify-write: the core waits for the line.
    Rmw,
}

/// Where a compiler puts a frame decides what shares a line with it, and what lay there before.
const IN_FRAME: &str = "a simulated word lies in a stack frame: put it on the heap, or lend it to \
                        others by `Platform::with_local`";

/// All lines, and the caches and channels that hold and carry them.
#[derive(Debug)]
pub(crate) struct Coherence {
    numbers: LineNumbers,
    lines: Table<LineId, Line>,
    sharers: Sharers<CacheId>,
    /// Which private caches have a place for each line, valid or not.
    in_private: Sharers<CacheId>,
    /// Which last-level caches hold each line.
    in_shared: Sharers<DomainId>,
    copies: CopiesBelow,
    queues: Queues,
    private: Table<CacheId, Tags>,
    shared: Table<DomainId, Tags>,
    places: Table<CacheId, CoreLocation>,
    /// What caches need to keep each other's rules, if they do.
    layers: Option<Box<Layers>>,
    /// What caches have lost since it was last asked for, if somebody wants to know.
    pub(crate) losses: Option<Vec<Loss>>,
    /// What cores have still that others have asked for, if tasks execute elsewhere.
    kept: Option<Box<Kept>>,
    /// What stands in the place of all caches, on a machine without any.
    pub(crate) uncached: Option<Box<Uncached>>,
}

impl Coherence {
    /// The memory of a machine whose private caches are at the given places.
    pub(crate) fn new(costs: &Costs, places: Vec<CoreLocation>) -> Self {
        let domains = places.iter().map(|place| place.domain.0 + 1).max().unwrap_or(0) as usize;
        let tags = |lines: u32, ways| move |_| Tags::new(lines as usize, ways);
        let (private, shared) = (tags(costs.private_lines, 8), tags(costs.shared_lines, 16));
        Self {
            numbers: LineNumbers::new(),
            lines: Table::new(),
            sharers: Sharers::new(places.len()),
            in_private: Sharers::new(places.len()),
            in_shared: Sharers::new(domains),
            copies: CopiesBelow::new(domains),
            queues: Queues::new(costs.nodes),
            private: (0..places.len()).map(private).collect::<Vec<Tags>>().into(),
            shared: (0..domains).map(shared).collect::<Vec<Tags>>().into(),
            places: places.into(),
            layers: None,
            losses: None,
            kept: None,
            uncached: None,
        }
    }

    /// The line at an address. A new one has its home on `node`.
    #[inline]
    pub(crate) fn line_at(&mut self, address: usize, line_shift: u32, node: NodeId) -> LineId {
        let key = address >> line_shift;
        match self.numbers.recent(key) {
            Some(line) => line,
            None => self.look_up(address, line_shift, node),
        }
    }

    /// The line at an address, if it has been asked for before.
    pub(crate) fn known_line(&self, address: usize, line_shift: u32) -> Option<LineId> {
        let key = address >> line_shift;
        self.numbers.recent(key).or_else(|| self.numbers.known(key))
    }

    #[cold]
    fn look_up(&mut self, address: usize, line_shift: u32, node: NodeId) -> LineId {
        let key = address >> line_shift;
        if let Some(line) = self.line_of_region(key) {
            return line;
        }
        let fresh = self.lines.next_id();
        let line = self.numbers.look_up(key, fresh);
        if line == fresh {
            self.push_line(Line::new(node));
            assert!(!self.numbers.is_in_frames(address), "{IN_FRAME}");
        }
        line
    }

    /// Refuses words at the addresses of a task's frames.
    pub(crate) fn refuse_frames(&mut self, frames: Range<usize>) {
        self.numbers.add_frames(frames);
    }

    /// Forgets the frames of a task that has ended.
    pub(crate) fn forget_frames(&mut self, frames: &Range<usize>) {
        self.numbers.remove_frames(frames);
    }

    fn push_line(&mut self, line: Line) {
        self.lines.push(line);
        self.sharers.push_line();
        self.in_private.push_line();
        self.in_shared.push_line();
        self.copies.push_line();
        if let Some(layers) = &mut self.layers {
            layers.push_line();
        }
    }

    /// Forgets which lines are at the addresses of an object that goes away.
    pub(crate) fn forget(&mut self, address: usize, bytes: usize, line_shift: u32) {
        for key in address >> line_shift..=(address + bytes.max(1) - 1) >> line_shift {
            self.numbers.forget(key);
        }
    }

    /// Whether a cache can serve an access without telling anybody.
    #[inline]
    pub(crate) fn hits(&self, line: LineId, cache: CacheId, access: Access) -> bool {
        let state = &self.lines[line];
        if state.owner == cache {
            return access == Access::Read || state.waiters.is_empty();
        }
        access == Access::Read && state.owner == NOBODY && self.sharers.contains(line, cache)
    }

    /// Whether others can notice an access that does not [hit](Self::hits): one that takes a line from them or
    /// waits for them.
    pub(crate) fn concerns_others(
        &self,
        line: LineId,
        cache: CacheId,
        access: Access,
        now: Cycles,
    ) -> bool {
        let state = &self.lines[line];
        let lately = state.transfers > 0 && state.busy_until + self.queues.disorder() > now;
        let modified = state.modified_in();
        let elsewhere = modified != NOBODY && modified != cache;
        let shared = u64::from(state.sharers) > u64::from(self.sharers.contains(line, cache));
        let written = access != Access::Read;
        elsewhere || shared && (written || lately) || written && !state.waiters.is_empty()
    }

    /// Whether a core that others have taken a line from may use it still.
    pub(crate) fn keeps(&self, line: LineId, cache: CacheId, now: Cycles) -> bool {
        let has = self.kept.as_ref().is_some_and(|kept| kept.has(line, cache, now));
        has && self.lines[line].waiters.is_empty()
    }

    /// Serves an access that arrives at `now` and does not [hit](Self::hits). Returns the moment at
    /// which the core has the line.
    pub(crate) fn serve(
        &mut self,
        costs: &Costs,
        line: LineId,
        cache: CacheId,
        access: Access,
        now: Cycles,
    ) -> Cycles {
        let here = self.places[cache];
        if costs.finds_copies
            && access == Access::Read
            && self.lines[line].owner == NOBODY
            && let Some(since) = self.copies.since(line, here.domain)
        {
            return self.read_below(costs, line, here, now.max(since));
        }
        let start = self.line_start(costs, line, here, now);
        let latency = self.fetch_latency(costs, line, here, start);
        if let Some(kept) = &mut self.kept {
            let state = &self.lines[line];
            let has = state.modified_in();
            if has != NOBODY && has != cache {
                kept.keep(line, has, Request { now, start, latency }, state.held_until);
            }
        }
        let done = match access {
            Access::Read => self.finish_read(costs, line, here, start, latency),
            Access::Write | Access::Rmw => self.finish_write(costs, line, here, start, latency),
        };
        self.lines[line].count_transfer(start - now);
        self.fill(costs, line, here, now);
        done
    }

    /// Serves a read of a clean line that is below the core's own last-level cache, or arrives
    /// there at `start`. Neither the line nor its home has anything to do with it.
    fn read_below(
        &mut self,
        costs: &Costs,
        line: LineId,
        here: CoreLocation,
        start: Cycles,
    ) -> Cycles {
        let passes = self.queues.pass_directory(costs, here.node, start);
        self.add_sharer(line, here.cache);
        self.lines[line].count_transfer(passes - start);
        self.fill(costs, line, here, start);
        passes + costs.copy_in_node()
    }

    fn finish_read(
        &mut self,
        costs: &Costs,
        line: LineId,
        here: CoreLocation,
        start: Cycles,
        latency: Cycles,
    ) -> Cycles {
        let service = self.read_service(costs, line, latency);
        let done = start + latency;
        self.share(costs, line, here, done);
        let state = &mut self.lines[line];
        state.busy_until = start + service;
        state.held_until = done + costs.write_hold;
        done
    }

    /// How long a read that takes so long keeps a line busy. A modified copy is fetched by one request at a time. Clean
    /// copies are read one after the other, as fast as the home hands them out.
    #[inline(always)]
    fn read_service(&self, costs: &Costs, line: LineId, latency: Cycles) -> Cycles {
        match self.lines[line].modified_in() {
            NOBODY => costs.line_service.min(latency),
            _ => latency,
        }
    }

    /// Gives a core a copy that it reads, which arrives at `arrival`. An owner keeps its own, unless reads take lines that
    /// were written.
    #[inline(always)]
    fn share(&mut self, costs: &Costs, line: LineId, here: CoreLocation, arrival: Cycles) {
        let Line { owner, .. } = self.lines[line];
        if costs.migratory_sharing && owner != NOBODY {
            self.take(line, here);
            let state = &mut self.lines[line];
            (state.owner, state.migrated_to) = (NOBODY, here.cache);
            return;
        }
        let modified = self.lines[line].modified_in();
        if modified != NOBODY {
            self.note_loss(line, modified, Lost::Ownership);
            let domain = self.places[modified].domain;
            self.copies.insert(line, domain, arrival);
            if !self.sharers.contains(line, modified) {
                self.add_sharer(line, modified);
            }
        }
        let state = &mut self.lines[line];
        (state.owner, state.migrated_to) = (NOBODY, NOBODY);
        self.copies.insert(line, here.domain, arrival);
        self.add_sharer(line, here.cache);
    }

    fn finish_write(
        &mut self,
        costs: &Costs,
        line: LineId,
        here: CoreLocation,
        start: Cycles,
        latency: Cycles,
    ) -> Cycles {
        // Whoever already has a copy only waits for the others to give theirs up.
        let mine = self.sharers.contains(line, here.cache);
        let fetch = if mine { Cycles(0) } else { latency };
        let done = start + fetch.max(self.others_give_up(costs, line, here));
        self.take(line, here);
        let state = &mut self.lines[line];
        state.busy_until = done;
        state.held_until = done + costs.write_hold;
        done
    }

    /// How long it takes until no other core has a copy any more.
    #[inline(always)]
    fn others_give_up(&self, costs: &Costs, line: LineId, here: CoreLocation) -> Cycles {
        let state = &self.lines[line];
        let mine = self.sharers.contains(line, here.cache);
        match u64::from(state.sharers) - u64::from(mine) {
            0 => Cycles(0),
            others => {
                let farthest = state.nodes.farthest(costs, here.node);
                farthest + costs.invalidate_per_sharer * others
            }
        }
    }

    /// Gives a core the only copy, to write it.
    #[inline(always)]
    fn take(&mut self, line: LineId, here: CoreLocation) {
        if self.losses.is_some() {
            self.note_losses_to(line, here.cache);
        }
        let state = &mut self.lines[line];
        (state.owner, state.migrated_to) = (here.cache, NOBODY);
        state.sharers = 1;
        state.nodes = NodeSet::only(here.node);
        self.sharers.reset_to(line, here.cache);
        self.copies.clear(line);
        if self.layers.is_some() {
            self.take_from_others(line, here);
        }
    }

    /// When it is the line's turn to serve a request that arrives at `now`. The request first
    /// passes a directory, which is busy with each request for a moment: that of the requester's
    /// own node if a copy is there, else that of the line's home. Requests that then wait for the
    /// line do not hold up others.
    fn line_start(
        &mut self,
        costs: &Costs,
        line: LineId,
        here: CoreLocation,
        now: Cycles,
    ) -> Cycles {
        let state = &self.lines[line];
        let local = match state.modified_in() {
            NOBODY => state.nodes.contains(here.node),
            owner => self.places[owner].node == here.node,
        };
        let directory = if local { here.node } else { state.home };
        self.queues.pass_directory(costs, directory, now).max(state.busy_until)
    }

    /// The time from `start` until the requester has a copy.
    fn fetch_latency(
        &mut self,
        costs: &Costs,
        line: LineId,
        here: CoreLocation,
        start: Cycles,
    ) -> Cycles {
        let state = &self.lines[line];
        let modified = state.modified_in();
        if modified != NOBODY {
            return costs.transfer(self.places[modified], here);
        }
        if state.sharers > 0 {
            if state.nodes.contains(here.node) {
                return costs.copy_in_node();
            }
            return state.nodes.nearest(costs, here.node);
        }
        if self.in_shared.contains(line, here.domain) {
            return costs.shared_hit;
        }
        let turn = self.queues.pass_channel(costs, state.home, start);
        turn - start + costs.memory(here.node, state.home)
    }

    /// When it is the turn of a batch of lines on their way between the memory of `home` and a core
    /// of `from`, which asks at `now`. The batch keeps the channels of `home` busy, and the link if
    /// it uses that.
    pub(crate) fn pass_batch(
        &mut self,
        from: NodeId,
        home: NodeId,
        now: Cycles,
        lines: u32,
        costs: &Costs,
    ) -> Cycles {
        let on_link = (from != home).then(|| costs.on_link(lines));
        self.queues.pass_batch(from, home, now, costs.on_channel(lines), on_link)
    }

    fn add_sharer(&mut self, line: LineId, cache: CacheId) {
        let state = &mut self.lines[line];
        if !self.sharers.contains(line, cache) {
            state.sharers += 1;
            self.sharers.insert(line, cache);
        }
        state.nodes.insert(self.places[cache].node);
    }

    /// Puts a line into the caches that it came through, evicting what has to make room.
    #[inline(always)]
    fn fill(&mut self, costs: &Costs, line: LineId, here: CoreLocation, now: Cycles) {
        if self.layers.is_some() {
            self.fill_layered(line, here);
            self.finish_fill(costs, here.node, now);
            return;
        }
        let CoreLocation { cache, domain, .. } = here;
        if !self.in_private.contains(line, cache) {
            self.in_private.insert(line, cache);
            if let Some(evicted) = self.private[cache].insert(line) {
                self.in_private.remove(evicted, cache);
                self.evict(evicted, cache);
            }
        }
        if !self.in_shared.contains(line, domain) {
            self.in_shared.insert(line, domain);
            if let Some(evicted) = self.shared[domain].insert(line) {
                self.in_shared.remove(evicted, domain);
            }
        }
    }

    /// A private cache gives up its copy, if it still had one.
    fn evict(&mut self, line: LineId, cache: CacheId) {
        self.note_loss(line, cache, Lost::Copy);
        let state = &mut self.lines[line];
        if self.sharers.contains(line, cache) {
            self.sharers.remove(line, cache);
            state.sharers -= 1;
        }
        if state.modified_in() == cache {
            (state.owner, state.migrated_to) = (NOBODY, NOBODY);
        }
        if state.sharers == 0 {
            state.nodes = NodeSet::EMPTY;
            self.copies.clear(line);
        }
    }

    /// Keeps a line busy until `until`.
    pub(crate) fn occupy(&mut self, line: LineId, until: Cycles) {
        let state = &mut self.lines[line];
        state.busy_until = state.busy_until.max(until);
    }

    /// Notes from now on what caches lose, and when, and lets requests be so much earlier than ones before them.
    pub(crate) fn report_losses(&mut self, disorder: Cycles) {
        self.losses = Some(Vec::new());
        self.kept = Some(Box::new(Kept::new(self.places.len())));
        self.queues.allow_disorder(disorder);
    }

    /// Whose memory an address of a region is.
    pub(crate) fn home_at(&self, address: usize, line_shift: u32) -> NodeId {
        let frames = self.layers.as_ref().map(|layers| &layers.frames);
        let found =
            frames.and_then(|frames| Some(frames.home(frames.find(address >> line_shift)?.0)));
        found.expect("an address of a region")
    }

    /// Whether memory has been added as a region.
    pub(crate) fn has_regions(&self) -> bool {
        self.layers.is_some()
    }

    /// Remembers a task that waits for the line to be written.
    pub(crate) fn watch(&mut self, line: LineId, task: TaskId) {
        self.note_watched(line);
        self.lines[line].waiters.push(task);
    }

    /// Forgets a task that waits for the line no longer, though it has not been written.
    pub(crate) fn unwatch(&mut self, line: LineId, task: TaskId) {
        self.lines[line].waiters.retain(|&waiter| waiter != task);
    }

    /// Whether a task waits for the line to be written.
    #[inline]
    pub(crate) fn is_watched(&self, line: LineId) -> bool {
        !self.lines[line].waiters.is_empty()
    }

    /// Moves the tasks that wait for the line to be written to an empty list.
    pub(crate) fn take_watchers(&mut self, line: LineId, list: &mut Vec<(TaskId, Epoch)>) {
        let waiters = &mut self.lines[line].waiters;
        list.extend(waiters.drain(..).map(|task| (task, Epoch::default())));
    }

    /// For each line: transfers, and how long they waited in its queue.
    pub(crate) fn traffic(&self) -> impl Iterator<Item = (LineId, u64, Cycles)> + '_ {
        self.lines.enumerate().map(|(id, line)| (id, line.transfers, line.queued))
    }
}
