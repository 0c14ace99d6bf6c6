//! The memory of the simulated machine: who holds each cache line, and how long it takes to get it.
//!
//! A line has at most one owner (the last writer), a set of sharers, a home node (that of the
//! core that touched it first) and a moment until which it is busy. A request that finds the line
//! or its home busy waits its turn. Serving a read keeps the line busy for the line's service
//! time, or for the whole transfer when a modified copy has to be fetched first; a write keeps it
//! busy until the writer has it and all other copies are gone. On machines whose last-level caches
//! know what their cores hold, a clean line is fetched below each of them once and then read there
//! by any number of cores at a time: what makes many waiters on one word much cheaper.

use rustc_hash::FxHashMap;

use crate::agenda::Epoch;
use crate::copies_below::CopiesBelow;
use crate::costs::{Costs, Place};
use crate::sharers::Sharers;
use crate::tags::Tags;

/// What a core wants to do to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// A plain store: the core goes on while the store waits in its buffer.
    Write,
    /// An atomic read-modify-write: the core waits for the line.
    Rmw,
}

/// A line of simulated memory, numbered in the order of first touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LineId(pub(crate) u32);

const NOBODY: u32 = u32::MAX;

#[derive(Debug)]
struct Line {
    /// The cache that holds the only, possibly modified copy.
    owner: u32,
    home: u32,
    sharers: u32,
    /// Nodes with a sharer; may name too many after an eviction.
    nodes: u64,
    busy_until: u64,
    transfers: u64,
    queued: u64,
    waiters: Vec<u32>,
}

/// All lines, and the caches and channels that hold and carry them.
#[derive(Debug)]
pub(crate) struct Coherence {
    /// The numbers of lines by address over the line's size. Nothing is ever removed, as gaps would
    /// let the map grow sooner or later by where the host happens to put things, and the objects
    /// allocated after that would lie otherwise on their lines.
    numbers: FxHashMap<usize, u32>,
    /// The last lookups, by address.
    recent: Vec<(usize, u32)>,
    lines: Vec<Line>,
    sharers: Sharers,
    /// Which private caches have a place for each line, valid or not.
    in_private: Sharers,
    /// Which last-level caches hold each line.
    in_shared: Sharers,
    copies: CopiesBelow,
    homes_busy: Vec<u64>,
    channels_busy: Vec<u64>,
    /// The way of memory's lines between nodes, `[from * nodes + home]`.
    links_busy: Vec<u64>,
    private: Vec<Tags>,
    shared: Vec<Tags>,
    places: Vec<Place>,
}

const RECENT: usize = 4096;
/// An entry of the last lookups that matches no address.
const NO_LOOKUP: (usize, u32) = (usize::MAX, 0);
/// The number of a line whose object is gone.
const FORGOTTEN: u32 = u32::MAX;

impl Coherence {
    /// The memory of a machine whose private caches are at the given places.
    pub(crate) fn new(costs: &Costs, places: Vec<Place>) -> Self {
        let domains = places.iter().map(|place| place.domain + 1).max().unwrap_or(0) as usize;
        Self {
            numbers: FxHashMap::default(),
            recent: vec![NO_LOOKUP; RECENT],
            lines: Vec::new(),
            sharers: Sharers::new(places.len()),
            in_private: Sharers::new(places.len()),
            in_shared: Sharers::new(domains),
            copies: CopiesBelow::new(domains),
            homes_busy: vec![0; costs.nodes],
            channels_busy: vec![0; costs.nodes],
            links_busy: vec![0; costs.nodes * costs.nodes],
            private: places.iter().map(|_| Tags::new(costs.private_lines, 8)).collect(),
            shared: (0..domains).map(|_| Tags::new(costs.shared_lines, 16)).collect(),
            places,
        }
    }

    /// The line at an address; a new one lives on `node`.
    #[inline]
    pub(crate) fn line_at(&mut self, address: usize, line_shift: u32, node: u32) -> LineId {
        let key = address >> line_shift;
        let slot = key % RECENT;
        let (recent_key, recent_line) = self.recent[slot];
        if recent_key == key {
            return LineId(recent_line);
        }
        self.look_up(key, slot, node)
    }

    fn look_up(&mut self, key: usize, slot: usize, node: u32) -> LineId {
        let fresh = self.lines.len() as u32;
        let number = self.numbers.entry(key).or_insert(FORGOTTEN);
        if *number == FORGOTTEN {
            *number = fresh;
            self.lines.push(Line {
                owner: NOBODY,
                home: node,
                sharers: 0,
                nodes: 0,
                busy_until: 0,
                transfers: 0,
                queued: 0,
                waiters: Vec::new(),
            });
            for set in [&mut self.sharers, &mut self.in_private, &mut self.in_shared] {
                set.push_line();
            }
            self.copies.push_line();
        }
        let number = *number;
        self.recent[slot] = (key, number);
        LineId(number)
    }

    /// Forgets which lines are at the addresses of an object that goes away.
    pub(crate) fn forget(&mut self, address: usize, bytes: usize, line_shift: u32) {
        for key in address >> line_shift..=(address + bytes.max(1) - 1) >> line_shift {
            if let Some(number) = self.numbers.get_mut(&key) {
                *number = FORGOTTEN;
            }
            self.recent[key % RECENT] = NO_LOOKUP;
        }
    }

    /// Whether a cache can serve an access without telling anybody.
    #[inline]
    pub(crate) fn hits(&self, line: LineId, cache: u32, access: Access) -> bool {
        let state = &self.lines[line.0 as usize];
        if state.owner == cache {
            return access == Access::Read || state.waiters.is_empty();
        }
        access == Access::Read
            && state.owner == NOBODY
            && self.sharers.contains(line.0 as usize, cache as usize)
    }

    /// Serves an access that arrives at `now` and does not [hit](Self::hits); gives the moment at
    /// which the core has the line.
    pub(crate) fn serve(
        &mut self,
        costs: &Costs,
        line: LineId,
        cache: u32,
        access: Access,
        now: u64,
    ) -> u64 {
        let index = line.0 as usize;
        let here = self.places[cache as usize];
        if costs.finds_copies
            && access == Access::Read
            && self.lines[index].owner == NOBODY
            && let Some(since) = self.copies.since(index, here.domain)
        {
            return self.read_below(costs, index, here, now.max(since));
        }
        let start = self.line_start(costs, index, here, now);
        let latency = self.fetch_latency(costs, index, here, start);
        let done = match access {
            Access::Read => self.finish_read(costs, index, here, start, latency),
            Access::Write | Access::Rmw => self.finish_write(costs, index, here, start, latency),
        };
        let state = &mut self.lines[index];
        state.transfers += 1;
        state.queued += start - now;
        self.fill(index, cache, here.domain);
        done
    }

    /// Serves a read of a clean line that is below the core's own last-level cache, or arrives
    /// there at `start`: neither the line nor its home has anything to do with it.
    fn read_below(&mut self, costs: &Costs, index: usize, here: Place, start: u64) -> u64 {
        let passes = self.pass_directory(costs, here.node, start);
        self.add_sharer(index, here.cache);
        let state = &mut self.lines[index];
        state.transfers += 1;
        state.queued += passes - start;
        self.fill(index, here.cache, here.domain);
        passes + costs.copy_in_node()
    }

    fn finish_read(
        &mut self,
        costs: &Costs,
        index: usize,
        here: Place,
        start: u64,
        latency: u64,
    ) -> u64 {
        let modified = self.lines[index].owner;
        if modified != NOBODY {
            let domain = self.places[modified as usize].domain;
            self.copies.insert(index, domain, start + latency);
            if !self.sharers.contains(index, modified as usize) {
                self.add_sharer(index, modified);
            }
        }
        let state = &mut self.lines[index];
        // A modified copy is fetched by one request at a time; clean ones are read one after
        // the other as fast as the home hands them out.
        let service = if modified == NOBODY { costs.line_service.min(latency) } else { latency };
        state.owner = NOBODY;
        state.busy_until = start + service;
        self.copies.insert(index, here.domain, start + latency);
        self.add_sharer(index, here.cache);
        start + latency
    }

    fn finish_write(
        &mut self,
        costs: &Costs,
        index: usize,
        here: Place,
        start: u64,
        latency: u64,
    ) -> u64 {
        let mine = self.sharers.contains(index, here.cache as usize);
        let state = &mut self.lines[index];
        let others = u64::from(state.sharers) - u64::from(mine);
        // Whoever already has a copy only waits for the others to give theirs up.
        let fetch = if mine { 0 } else { latency };
        let farthest = farthest(costs, here.node, state.nodes);
        let invalidate =
            if others == 0 { 0 } else { farthest + others * costs.invalidate_per_sharer };
        let done = start + fetch.max(invalidate);
        state.owner = here.cache;
        state.sharers = 1;
        state.nodes = 1 << here.node;
        state.busy_until = done;
        self.sharers.reset_to(index, here.cache as usize);
        self.copies.clear(index);
        done
    }

    /// When a request that arrives at `now` is the line's turn. It first passes the directory of
    /// the line's home, or of the requester's own node if a copy is there, which is busy with each
    /// request for a moment; requests that then wait for the line do not hold up others.
    fn line_start(&mut self, costs: &Costs, index: usize, here: Place, now: u64) -> u64 {
        let state = &self.lines[index];
        let local = match state.owner {
            NOBODY => state.nodes >> here.node & 1 != 0,
            owner => self.places[owner as usize].node == here.node,
        };
        let (home, busy_until) = (state.home, state.busy_until);
        self.pass_directory(costs, if local { here.node } else { home }, now).max(busy_until)
    }

    /// When a request that arrives at `now` has passed the directory of a node.
    fn pass_directory(&mut self, costs: &Costs, node: u32, now: u64) -> u64 {
        let directory = &mut self.homes_busy[node as usize];
        let passes = now.max(*directory);
        *directory = passes + costs.home_service;
        passes
    }

    /// The time from `start` until the requester has a copy.
    fn fetch_latency(&mut self, costs: &Costs, index: usize, here: Place, start: u64) -> u64 {
        let state = &self.lines[index];
        if state.owner != NOBODY {
            return costs.transfer(self.places[state.owner as usize], here);
        }
        if state.sharers > 0 {
            if state.nodes >> here.node & 1 != 0 {
                return costs.copy_in_node();
            }
            return nearest(costs, here.node, state.nodes);
        }
        if self.in_shared.contains(index, here.domain as usize) {
            return costs.shared_hit;
        }
        let channel = &mut self.channels_busy[state.home as usize];
        let turn = start.max(*channel);
        *channel = turn + costs.memory_service;
        turn - start + costs.memory(here.node, state.home)
    }

    /// Keeps the channels of `home`, and the link to it if it is to be used, busy with a batch of
    /// lines for a core of `from` that asks at `now`; gives the moment at which it is its turn.
    pub(crate) fn occupy_channel(
        &mut self,
        from: u32,
        home: u32,
        now: u64,
        on_channel: u64,
        on_link: Option<u64>,
    ) -> u64 {
        let nodes = self.channels_busy.len();
        let channel = &mut self.channels_busy[home as usize];
        let Some(on_link) = on_link else {
            let start = now.max(*channel);
            *channel = start + on_channel;
            return start;
        };
        // Whoever waits for the link does not hold up the channels meanwhile: they serve the lines
        // of others first.
        let link = &mut self.links_busy[from as usize * nodes + home as usize];
        let passes = now.max(*link);
        *link = passes + on_link;
        let start = now.max(*channel);
        *channel = start + on_channel;
        start.max(passes)
    }

    fn add_sharer(&mut self, index: usize, cache: u32) {
        let state = &mut self.lines[index];
        if !self.sharers.contains(index, cache as usize) {
            state.sharers += 1;
            self.sharers.insert(index, cache as usize);
        }
        state.nodes |= 1 << self.places[cache as usize].node;
    }

    /// Puts a line into the caches that it came through, evicting what has to make room.
    fn fill(&mut self, index: usize, cache: u32, domain: u32) {
        if !self.in_private.contains(index, cache as usize) {
            self.in_private.insert(index, cache as usize);
            if let Some(evicted) = self.private[cache as usize].insert(index) {
                self.in_private.remove(evicted, cache as usize);
                self.evict(evicted, cache);
            }
        }
        if !self.in_shared.contains(index, domain as usize) {
            self.in_shared.insert(index, domain as usize);
            if let Some(evicted) = self.shared[domain as usize].insert(index) {
                self.in_shared.remove(evicted, domain as usize);
            }
        }
    }

    /// A private cache gives up its copy, if it still had one.
    fn evict(&mut self, index: usize, cache: u32) {
        let state = &mut self.lines[index];
        if self.sharers.contains(index, cache as usize) {
            self.sharers.remove(index, cache as usize);
            state.sharers -= 1;
        }
        if state.owner == cache {
            state.owner = NOBODY;
        }
        if state.sharers == 0 {
            state.nodes = 0;
            self.copies.clear(index);
        }
    }

    /// Keeps a line busy until `until`.
    pub(crate) fn occupy(&mut self, line: LineId, until: u64) {
        let state = &mut self.lines[line.0 as usize];
        state.busy_until = state.busy_until.max(until);
    }

    /// Remembers a task that waits for the line to be written.
    pub(crate) fn watch(&mut self, line: LineId, task: u32) {
        self.lines[line.0 as usize].waiters.push(task);
    }

    /// Forgets a task that waits for the line no longer, though it has not been written.
    pub(crate) fn unwatch(&mut self, line: LineId, task: u32) {
        self.lines[line.0 as usize].waiters.retain(|&waiter| waiter != task);
    }

    /// Whether a task waits for the line to be written.
    #[inline]
    pub(crate) fn is_watched(&self, line: LineId) -> bool {
        !self.lines[line.0 as usize].waiters.is_empty()
    }

    /// Moves the tasks that wait for the line to be written to an empty list.
    pub(crate) fn take_watchers(&mut self, line: LineId, list: &mut Vec<(u32, Epoch)>) {
        let waiters = &mut self.lines[line.0 as usize].waiters;
        list.extend(waiters.drain(..).map(|task| (task, Epoch::default())));
    }

    /// For each line: transfers, and cycles that they waited in its queue.
    pub(crate) fn traffic(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.lines.iter().map(|line| (line.transfers, line.queued))
    }
}

fn nearest(costs: &Costs, from: u32, nodes: u64) -> u64 {
    bits(nodes).map(|node| costs.between(node, from)).min().unwrap_or(0)
}

fn farthest(costs: &Costs, from: u32, nodes: u64) -> u64 {
    bits(nodes).map(|node| costs.between(node, from)).max().unwrap_or(0)
}

fn bits(set: u64) -> impl Iterator<Item = u32> {
    let mut rest = set;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            bit
        })
    })
}
