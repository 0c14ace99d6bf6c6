//! What a guest pays for its loads and stores.
//!
//! # What an access costs
//! The instruction itself is computing, and so is an access to a line that the core has. All else depends on
//! where the line is:
//!
//! * **With another core**, or with others that lose their copies: as in any simulation, in the order of time. A
//!   store waits in its buffer, and its core goes on unless the buffer is full.
//! * **In the last-level cache or in memory.** A processor looks far ahead, so that it rarely waits for all of a
//!   latency. A load waits for [`LOAD_WAITS`] of it, a store for [`STORE_WAITS`]. Where a core walks from line to
//!   line, its prefetchers have as many lines under way as the machine file says. Everything passes the
//!   memory's channels.
//! * **Nowhere yet.** The first touch of a page is a fault: the kernel shares the lock of the [address
//!   space](super::address_space), finds a frame on the node of the core, and zeroes it. Of a file, it maps the pages
//!   around as well. These are in memory already, on the first node: one thread wrote the file, or read it from a disk.
//!   If the page is written, it copies this one. A copy that is made because a page is written after it was read,
//!   nobody pays for.
//!
//! Whoever gives memory back pays for each page, and so does the program when it ends.

use kilocore_platform::{Cycles, NodeId};

use super::{Guest, Guests};
use crate::chain::Chains;
use crate::coherence::{Access, Visit};
use crate::current::with_engine;
use crate::engine::Engine;
use crate::guest_memory::{Filter, GuestMemory, PAGE_BYTES};
use crate::ids::{CacheId, LineId, SimAddress};
use crate::outcome::Activity;
use crate::platform::Sim;
use crate::platform::charge::give_way_to_earlier;
use crate::region::SimBlock;
use crate::simulation::longest_run;

/// The part of a latency for which a load waits, where its address does not follow from the one before.
/// Estimated: with dependent loads it is all, and an out-of-order window of 200 instructions hides most of it
/// where there are none.
const LOAD_WAITS: f64 = 0.5;
/// The same for a store, which waits for a place in its buffer only. Estimated.
const STORE_WAITS: f64 = 0.3;
/// How far the stores of a core may lag behind it: some fifty, of which each takes a few cycles.
const STORE_BUFFER: Cycles = Cycles(200);
/// By how much less a core may run ahead that has lately done what others can notice. With five, a program whose threads poll
/// a lock takes 79 ms; 78 ms with a tenth of the disorder for all, and 93 ms without this.
const LATELY: u64 = 5;
/// How many guests a machine may have had, for the times of all of them to be counted.
const MOST_GUESTS: u32 = 1 << 20;

/// What a guest does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestAccess {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads and writes in one step that nobody can come between, and has [begun to](Guest::begin_update).
    Update,
}

/// How an access goes on.
enum Step {
    Done,
    /// The page has no frame.
    Fault,
    /// Others can notice it.
    InOrder,
}

impl Engine {
    /// Lets tasks execute elsewhere, ahead of one another by so much.
    pub(super) fn admit_guests(&mut self, disorder: Cycles) {
        self.latest = longest_run(self.cores.len() as u32, MOST_GUESTS);
        self.memory.become_layered(&self.costs);
        self.memory.report_losses(disorder);
        let caches: Vec<CacheId> = self.cores.iter().map(|core| core.place.cache).collect();
        let memory = GuestMemory::new(&caches, self.costs.nodes, self.costs.line_shift);
        self.guests = Some(Box::new(memory));
        self.chains = Some(Box::new(Chains::new()));
    }

    fn guests(&mut self) -> &mut GuestMemory {
        self.guests.as_deref_mut().expect("the tasks are guests")
    }

    /// Where a byte of the program lies, if its page has a frame.
    #[inline]
    pub(super) fn physical(&mut self, address: u64) -> Option<SimAddress> {
        let frame = self.guests().pages.frame(address / PAGE_BYTES as u64)?;
        Some(SimAddress(frame * PAGE_BYTES + address as usize % PAGE_BYTES))
    }

    /// Charges for an access that need not be in order.
    fn refer_ahead(&mut self, address: u64, access: Access) -> Step {
        let Some(place) = self.physical(address) else { return Step::Fault };
        self.operations += 1;
        let line = self.line_at(place.0);
        let core = self.current_core();
        let (here, now) = (core.place, core.time);
        if self.memory.hits(line, here.cache, access) {
            self.access_at(line, access, self.use_of(access));
        } else if self.memory.keeps(line, here.cache, now) {
            // It costs what it costs with a line that the filter allows, and may be gone the next time.
            return Step::Done;
        } else if self.memory.concerns_others(line, here.cache, access, now) {
            return Step::InOrder;
        } else {
            self.fetch_ahead(address, line, access);
        }
        self.remember(address, line);
        Step::Done
    }

    /// Fetches a line from the last-level cache or from memory.
    fn fetch_ahead(&mut self, address: u64, line: LineId, access: Access) {
        let core = self.current_core();
        let (now, here) = (core.time, core.place);
        let mut visit = Visit::default();
        let wanted = if access == Access::Read { Access::Read } else { Access::Write };
        self.memory.visit(&self.costs, line, here, wanted, now, &mut visit);
        let turn = self.memory.finish_visit(&self.costs, here.node, now, &mut visit);
        let walks = {
            let (current, line) = (self.current, address >> self.costs.line_shift);
            self.guests().streams[current].continues(line)
        };
        let latency = visit.farthest.0 as f64;
        let waits = match access {
            Access::Rmw => latency,
            _ if walks => latency / f64::from(self.costs.lines_under_way),
            Access::Read => latency * LOAD_WAITS,
            Access::Write => latency * STORE_WAITS,
        };
        let waits = Cycles(waits.round() as u64).max(visit.on_channel);
        self.pass(Activity::Stalled, turn.since(now) + waits);
    }

    /// What an access takes once the core has the line. What an update takes was [charged before](Guest::begin_update).
    fn use_of(&self, access: Access) -> Cycles {
        if access == Access::Rmw { Cycles(0) } else { self.costs.hit }
    }

    /// Charges for an access, at the current core's time.
    fn refer_now(&mut self, address: u64, place: SimAddress, access: Access) {
        let line = self.line_at(place.0);
        self.access_at(line, access, self.use_of(access));
        if access == Access::Write {
            let core = self.current_core();
            let lags = core.stores_done.since(core.time).since(STORE_BUFFER);
            self.pass(Activity::Stalled, lags);
        }
        self.remember(address, line);
        let (current, now) = (self.current, self.now());
        self.guests().noticed[current] = now;
    }

    /// By how much the current core may run ahead of the others, which is `disorder` at most. One that has just done what
    /// others can notice is about to do so again, or polls: what it reads should not be much older than its time is.
    pub(super) fn may_run_ahead(&mut self, disorder: Cycles) -> Cycles {
        let (current, now) = (self.current, self.now());
        let lately = now.since(self.guests().noticed[current]) < disorder;
        if lately { Cycles(disorder.0 / LATELY) } else { disorder }
    }

    /// Whether the current core has the line of a word.
    pub(super) fn has(&mut self, place: usize) -> bool {
        let cache = self.current_core().place.cache;
        let line = self.line_at(place);
        self.memory.hits(line, cache, Access::Read)
    }

    /// Lets the filter of the current core know of a line that has come, and others of what they lost.
    fn remember(&mut self, address: u64, line: LineId) {
        self.tell_losses();
        let cache = self.current_core().place.cache;
        let readable = self.memory.hits(line, cache, Access::Read);
        let writable = self.memory.hits(line, cache, Access::Write);
        let (current, shift) = (self.current, self.costs.line_shift);
        if readable {
            self.guests().filters[current].insert(address >> shift, writable);
        }
    }

    /// Lets the filters of cores know what their caches have lost.
    pub(super) fn tell_losses(&mut self) {
        let Some(losses) = self.memory.losses.as_mut().filter(|losses| !losses.is_empty()) else {
            return;
        };
        let Some(guests) = self.guests.as_deref_mut() else { return };
        losses.drain(..).for_each(|loss| guests.tell(loss));
    }

    /// Gives a page a frame, on the current core's node unless pages are interleaved. Returns the frame if it had none.
    fn map_page(&mut self, page: u64) -> Option<SimBlock> {
        let here = self.current_core().place.node;
        let node = self.guests().pages.node_for(page, here);
        self.map_page_on(node, page)
    }

    /// Maps a page of a file where the file is. Returns the frame if it had none.
    fn map_file_page(&mut self, page: u64) -> Option<SimBlock> {
        let first = self.cores.iter().next()?.place.node;
        self.map_page_on(first, page)
    }

    fn map_page_on(&mut self, node: NodeId, page: u64) -> Option<SimBlock> {
        let Self { guests, memory, costs, .. } = self;
        let guests = guests.as_deref_mut()?;
        let grow = |bytes| memory.add_region(costs, bytes, node) / PAGE_BYTES;
        let frame = guests.pages.map(page, node, grow)?;
        Some(SimBlock::at_address(SimAddress(frame * PAGE_BYTES), PAGE_BYTES))
    }

    /// Takes the frames of pages back.
    fn unmap_pages(&mut self, pages: std::ops::Range<u64>) {
        let Self { guests, memory, costs, .. } = self;
        let Some(guests) = guests.as_deref_mut() else { return };
        let home = |frame| memory.home_at(frame * PAGE_BYTES, costs.line_shift);
        let count = guests.pages.unmap(pages.clone(), home);
        guests.files.remove(pages.clone());
        guests.forget(pages);
        self.works_in_kernel(count, self.costs.unmap_page);
    }

    /// The kernel does something so often.
    fn works_in_kernel(&mut self, times: u64, each: Cycles) {
        self.pass(Activity::System, Cycles(times * each.0));
    }
}

impl Guests {
    /// How many pages were touched for the first time, as far as the calling thread is the guest that runs.
    #[must_use]
    pub fn page_faults(&self) -> u64 {
        with_engine(|engine| engine.guests().pages.faults).unwrap_or(0)
    }

    /// How many bytes of memory the program has, as far as the calling thread is the guest that runs.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        let pages = with_engine(|engine| engine.guests().pages.resident());
        pages.unwrap_or(0) * PAGE_BYTES as u64
    }

    /// The lines that a core has, by addresses of the program. Whoever executes a task may ask the filter of
    /// the core that it runs on before it [refers](Guest::refer) to memory: what the filter allows costs
    /// nothing more.
    ///
    /// The filter lives as long as this machine. Only the guest that runs may look at it.
    #[must_use]
    pub fn filter(&self) -> Option<*const Filter> {
        with_engine(|engine| {
            let current = engine.current;
            &raw const *engine.guests().filters[current]
        })
    }
}

impl Guest {
    /// Bytes of a page.
    pub const PAGE: u64 = PAGE_BYTES as u64;

    /// The first touch of a page.
    #[cold]
    fn fault(&self, page: u64, access: Access) {
        self.shared.space.fault(page, || {
            let frame = with_engine(|engine| {
                engine.works_in_kernel(1, engine.costs.page_fault);
                let around = engine.guests().files.around(page).filter(|_| access == Access::Read);
                let Some(around) = around else { return engine.map_page(page) };
                let mapped = around.filter(|&page| engine.map_file_page(page).is_some()).count();
                engine.works_in_kernel(mapped as u64, engine.costs.file_page);
                None
            });
            if let Some(frame) = frame.flatten() {
                Sim::initialize(frame);
            }
        });
    }

    /// Where a byte of the program lies. Its page gets a frame if it has none.
    pub(super) fn place_of(&self, address: u64) -> Option<SimAddress> {
        let place = || with_engine(|engine| engine.physical(address)).flatten();
        place().or_else(|| {
            self.fault(address / Self::PAGE, Access::Write);
            place()
        })
    }

    /// The task computes for so long, and longer if its core is interrupted meanwhile.
    pub fn compute(&self, time: Cycles) {
        with_engine(|engine| engine.work_interrupted(time));
    }

    /// Lets pages that are touched first from now on lie on all nodes in turn.
    pub fn interleave_pages(&self) {
        with_engine(|engine| engine.guests().pages.interleaved = true);
    }

    /// The task is about to update a word in one step. A core first finishes what it has begun, and only then needs the word's
    /// line, so what an update takes passes now.
    pub fn begin_update(&self) {
        with_engine(|engine| engine.pass(Activity::Working, engine.costs.rmw));
        self.catch_up();
    }

    /// The task refers to memory at an address of the program. Returns whether another core was concerned, so
    /// that it was done in order.
    pub fn refer(&self, address: u64, access: GuestAccess) -> bool {
        let access = match access {
            GuestAccess::Load => Access::Read,
            GuestAccess::Store => Access::Write,
            GuestAccess::Update => Access::Rmw,
        };
        loop {
            match with_engine(|engine| engine.refer_ahead(address, access)) {
                None | Some(Step::Done) => return false,
                Some(Step::Fault) => self.fault(address / Self::PAGE, access),
                Some(Step::InOrder) => break,
            }
        }
        self.catch_up();
        if let Some(place) = self.place_of(address) {
            with_engine(|engine| engine.refer_now(address, place, access));
        }
        true
    }

    /// The task has touched these pages before anything was simulated. Those without a frame get one on the node of
    /// its core, in this order and at no cost. A page is an address over [`PAGE`](Self::PAGE).
    pub fn has_touched(&self, pages: impl IntoIterator<Item = u64>) {
        with_engine(|engine| {
            for page in pages {
                engine.map_page(page);
            }
        });
    }

    /// The program has mapped so many bytes of a file at an address.
    pub fn map_file(&self, start: u64, bytes: u64) {
        let pages = start / Self::PAGE..start.saturating_add(bytes).div_ceil(Self::PAGE);
        with_engine(|engine| engine.guests().files.insert(pages));
    }

    /// The program ends, and gives all of its memory back.
    pub fn leave_address_space(&self) {
        with_engine(|engine| {
            let pages = engine.guests().pages.resident();
            engine.works_in_kernel(pages, engine.costs.unmap_page);
        });
    }

    /// Gives the program's address space to the task alone, as a call that copies it has it. When this returns, no other task
    /// is inside of a page fault, and those that touch new pages wait before it, until the task [leaves](Self::leave_copied)
    /// it.
    pub fn hold_to_copy(&self) {
        self.catch_up();
        self.shared.space.hold();
    }

    /// The address space, which the task has held to copy it, is free again.
    pub fn leave_copied(&self) {
        self.shared.space.leave();
    }

    /// The kernel works for the task so long, keeps all others of the program from changing its address space and from
    /// touching new pages, and takes so many bytes of memory back from an address on, as `munmap` and `madvise` do.
    pub fn change_address_space(&self, time: Cycles, start: u64, bytes: u64) {
        let pages = start / Self::PAGE..start.saturating_add(bytes).div_ceil(Self::PAGE);
        self.catch_up();
        self.shared.space.change(|| {
            with_engine(|engine| {
                engine.pass(Activity::System, time);
                if bytes > 0 {
                    engine.unmap_pages(pages);
                }
            });
            give_way_to_earlier();
        });
    }
}
