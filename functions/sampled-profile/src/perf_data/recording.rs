//! Takes in the records, one after another in order of time.

use std::collections::{BTreeSet, HashSet};

use kilocore_symbols::BuildId;
use linux_perf_data::linux_perf_event_reader::{
    CpuMode, EventRecord, Mmap2FileId, PerfEventAttr, RawEventRecord, RecordType,
};

use super::bytes::{Bytes, text};
use super::event::{self, Weight};
use super::features::Features;
use super::files::Files;
use super::kernel::KernelMap;
use super::layout::RawEvent;
use super::place::{CodeLocation, Index, Interned, Object, PlaceTree};
use super::processes::{Mapping, Processes};
use super::sample::{Sample, SampleLayout};
use super::unwind::Unwinder;
use crate::{Origin, Tally, plain_event};

/// An event, and what was sampled of it.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) attr: PerfEventAttr,
    pub(super) weight: Weight,
    layout: SampleLayout,
    pub(super) stacks: PlaceTree,
    pub(super) samples: u64,
    /// Times of the first and the last sample.
    pub(super) times: Option<(u64, u64)>,
    pub(super) processors: BTreeSet<u32>,
    pub(super) threads: HashSet<(i32, i32)>,
    pub(super) has_kernel: bool,
}

impl Event {
    pub(super) fn new(
        attr: PerfEventAttr,
        raw: &RawEvent,
        index: usize,
        features: &Features,
        big_endian: bool,
    ) -> Self {
        let by_id = |(_, ids): &&(String, Vec<u64>)| ids.iter().any(|id| raw.ids.contains(id));
        let named = features.events.iter().find(by_id).or_else(|| features.events.get(index));
        let layout = SampleLayout::new(&attr, &raw.attr, big_endian);
        Self {
            name: named.map_or_else(|| event::name_of(&attr), |(name, _)| name.clone()),
            attr,
            weight: Weight::new(&attr, layout.has_period()),
            layout,
            stacks: PlaceTree::default(),
            samples: 0,
            times: None,
            processors: BTreeSet::new(),
            threads: HashSet::new(),
            has_kernel: false,
        }
    }

    /// Takes what was sampled of the same event on cores of another kind.
    pub(super) fn add(&mut self, other: Self) {
        for (places, tally) in other.stacks.stacks() {
            self.stacks.sample(&places, tally);
        }
        self.samples += other.samples;
        self.times = match (self.times, other.times) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, other) => one.or(other),
        };
        self.processors.extend(other.processors);
        self.threads.extend(other.threads);
        self.has_kernel |= other.has_kernel;
        self.name = plain_event(&self.name).to_owned();
    }

    /// Whether it goes by a name.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || plain_event(&self.name) == name
    }
}

/// Records that could not be read.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub(super) count: u64,
    /// The number of the first, and what was wrong.
    pub(super) first: Option<(u64, &'static str)>,
}

/// Everything that the records have told so far.
#[derive(Debug)]
pub(super) struct Recording<'a> {
    big_endian: bool,
    pub(super) events: Vec<Event>,
    pub(super) objects: Interned<Object>,
    pub(super) places: Interned<CodeLocation>,
    pub(super) kernel: KernelMap,
    pub(super) files: Files<'a>,
    processes: Processes,
    unwinder: Unwinder,
    records: u64,
    pub(super) skipped: Skipped,
    /// The number of lost samples according to `LOST` records and according to `LOST_SAMPLES`
    /// records. Both count the same samples.
    lost: (u64, u64),
    pub(super) throttled: u64,
}

impl<'a> Recording<'a> {
    pub(super) fn new(
        events: Vec<Event>,
        files: Files<'a>,
        unwinder: Unwinder,
        big_endian: bool,
    ) -> Self {
        Self {
            big_endian,
            events,
            objects: Interned::default(),
            places: Interned::default(),
            kernel: KernelMap::default(),
            files,
            processes: Processes::default(),
            unwinder,
            records: 0,
            skipped: Skipped::default(),
            lost: (0, 0),
            throttled: 0,
        }
    }

    /// How many samples were lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost.0.max(self.lost.1)
    }

    /// How many mappings were left out because there were too many.
    pub(super) fn mappings_left_out(&self) -> u64 {
        self.processes.left_out()
    }

    /// Takes the next record.
    pub(super) fn record(&mut self, event: usize, record: &RawEventRecord<'_>) {
        self.records += 1;
        let body = record.data.as_slice();
        let bytes = Bytes::new(&body, self.big_endian);
        let outcome = match record.record_type {
            RecordType::SAMPLE => self.sample(event, bytes, CpuMode::from_misc(record.misc)),
            RecordType::KSYMBOL => self.loaded(bytes),
            RecordType::LOST_SAMPLES => self.lost_samples(bytes),
            RecordType::MMAP2 if has_impossible_build_id(record.misc, &body) => None,
            RecordType::MMAP
            | RecordType::MMAP2
            | RecordType::COMM
            | RecordType::FORK
            | RecordType::EXIT
            | RecordType::LOST
            | RecordType::THROTTLE => {
                record.parse().ok().and_then(|parsed| self.other(record.misc, parsed))
            }
            _ => Some(()),
        };
        if outcome.is_none() {
            self.skipped.count += 1;
            self.skipped.first.get_or_insert((self.records, "a record is shorter than it says"));
        }
    }

    /// Takes a record that is not a sample.
    fn other(&mut self, misc: u16, record: EventRecord<'_>) -> Option<()> {
        /// The mapping is not executable.
        const DATA: u16 = 1 << 13;
        /// The process was there before the recording, and its mappings follow.
        const NOT_FORKED: u16 = 1 << 13;
        match record {
            EventRecord::Mmap(map) if misc & DATA == 0 => {
                let path = text(&map.path.as_slice());
                let range = (map.address, map.address.saturating_add(map.length));
                self.map(map.cpu_mode, map.pid, range, map.page_offset, &path, None);
            }
            EventRecord::Mmap2(map) if misc & DATA == 0 => {
                let path = text(&map.path.as_slice());
                let range = (map.address, map.address.saturating_add(map.length));
                let build_id = match &map.file_id {
                    Mmap2FileId::BuildId(id) => BuildId::new(id),
                    Mmap2FileId::InodeAndVersion(_) => None,
                };
                self.map(map.cpu_mode, map.pid, range, map.page_offset, &path, build_id);
            }
            EventRecord::Comm(comm) => {
                if comm.is_execve {
                    self.processes.exec(comm.pid);
                }
                self.processes.seen(comm.pid, comm.tid);
            }
            EventRecord::Fork(fork) => {
                let inherits = misc & NOT_FORKED == 0;
                self.processes.fork(fork.pid, fork.ppid, fork.tid, inherits);
            }
            EventRecord::Exit(exit) => self.processes.exit(exit.pid, exit.tid),
            EventRecord::Lost(lost) => self.lost.0 = self.lost.0.saturating_add(lost.count),
            EventRecord::Throttle(_) => self.throttled += 1,
            _ => {}
        }
        Some(())
    }

    fn map(
        &mut self,
        mode: CpuMode,
        process: i32,
        (start, end): (u64, u64),
        offset: u64,
        path: &str,
        build_id: Option<BuildId>,
    ) {
        match mode {
            CpuMode::Kernel => self.kernel.map(path, start, end, offset),
            CpuMode::User | CpuMode::Unknown => {
                let object = Object::new(path, process, build_id);
                // For memory without a file, the address identifies the place.
                let is_memory = matches!(object, Object::Anonymous { .. });
                let offset = if is_memory { start } else { offset };
                let object = self.objects.index(&object);
                self.processes.map(process, start, Mapping { end, offset, object });
            }
            _ => {}
        }
    }

    /// Code was loaded into the kernel, or removed.
    fn loaded(&mut self, mut bytes: Bytes<'_>) -> Option<()> {
        const REMOVED: u16 = 1;
        let (address, size) = (bytes.u64()?, bytes.u32()?);
        let (_kind, flags) = (bytes.u16()?, bytes.u16()?);
        if flags & REMOVED == 0 {
            self.kernel.load(&text(bytes.rest()), address, size);
        }
        Some(())
    }

    fn lost_samples(&mut self, mut bytes: Bytes<'_>) -> Option<()> {
        self.lost.1 = self.lost.1.saturating_add(bytes.u64()?);
        Some(())
    }

    fn sample(&mut self, event: usize, bytes: Bytes<'_>, mode: CpuMode) -> Option<()> {
        let layout = self.events[event].layout;
        let sample = layout.parse(bytes)?;
        let window = self.files.options.window;
        let is_inside =
            |(from, to): (u64, u64)| sample.time.is_some_and(|t| (from..to).contains(&t));
        if !window.is_none_or(is_inside) {
            return Some(());
        }
        let stack = self.stack(&layout, &sample, mode);
        let is_kernel = |place: &Index| self.places.get(*place).origin() == Origin::Kernel;
        let has_kernel = stack.iter().any(is_kernel);
        let event = &mut self.events[event];
        event.samples += 1;
        event.has_kernel |= has_kernel;
        event.processors.extend(sample.processor);
        event.threads.extend(sample.ids);
        if let Some(time) = sample.time {
            let (first, last) = event.times.unwrap_or((time, time));
            event.times = Some((first.min(time), last.max(time)));
        }
        event.stacks.sample(&stack, Tally::of(1, event.weight.of(sample.period)));
        Some(())
    }

    /// The places of a sample's stack, the innermost first.
    fn stack(&mut self, layout: &SampleLayout, sample: &Sample<'_>, mode: CpuMode) -> Vec<Index> {
        let process = sample.ids.map(|(process, _)| process);
        let mut stack = Vec::new();
        let mut has_user = false;
        for step in sample.chain.iter().flat_map(|chain| Chain::new(chain.iter(), mode)) {
            let is_user = step.mode == CpuMode::User;
            has_user |= is_user;
            // If branches were recorded, the user's part of the stack comes from them.
            if !(is_user && sample.calls.is_some()) {
                stack.push(self.place(step.mode, process, step.address));
            }
        }
        let own = sample.ip.filter(|_| mode == CpuMode::User);
        if let Some(calls) = sample.calls {
            let entered = calls.get(1).filter(|_| own.is_none());
            let from = calls.iter().step_by(3);
            for address in own.into_iter().chain(entered).chain(from) {
                stack.push(self.place(CpuMode::User, process, address));
            }
        } else if let (false, Some(state), Some(process)) = (has_user, sample.user, process) {
            let registers = layout.user_registers;
            let memory = (&self.processes, &self.objects);
            for address in self.unwinder.unwind(memory, &mut self.files, process, registers, &state)
            {
                stack.push(self.place(CpuMode::User, Some(process), address));
            }
        }
        if let (true, Some(ip)) = (stack.is_empty(), sample.ip) {
            stack.push(self.place(mode, process, ip));
        }
        stack
    }

    /// The place of an address.
    fn place(&mut self, mode: CpuMode, process: Option<i32>, address: u64) -> Index {
        let place = match mode {
            CpuMode::Kernel => CodeLocation::Kernel(address),
            CpuMode::User => process
                .and_then(|process| self.processes.at(process, address))
                .map_or(CodeLocation::Nowhere, |(object, offset)| {
                    CodeLocation::Object(object, offset)
                }),
            CpuMode::GuestKernel => CodeLocation::GuestKernel,
            CpuMode::GuestUser => CodeLocation::GuestUser,
            CpuMode::Hypervisor => CodeLocation::Hypervisor,
            _ => CodeLocation::Unknown,
        };
        self.places.index(&place)
    }
}

/// Whether the record of a mapping states a build id that is longer than its field. The crate that
/// reads these records panics on such a record.
fn has_impossible_build_id(misc: u16, body: &[u8]) -> bool {
    const HAS_BUILD_ID: u16 = 1 << 14;
    const SIZE_AT: usize = 32;
    misc & HAS_BUILD_ID != 0 && body.get(SIZE_AT).is_none_or(|size| *size > 20)
}

/// An address of a call chain, together with the mode (kernel, user, guest) that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    mode: CpuMode,
    address: u64,
}

/// Goes through a call chain. Marks in it say in which mode the addresses after them ran.
struct Chain<I> {
    values: I,
    mode: CpuMode,
    /// Whether the next address is that of an instruction that ran. Otherwise it is a return
    /// address.
    exact: bool,
}

impl<I: Iterator<Item = u64>> Chain<I> {
    /// Values from here on are marks and not addresses.
    const FIRST_MARK: u64 = -4095_i64 as u64;

    fn new(values: I, mode: CpuMode) -> Self {
        Self { values, mode, exact: true }
    }

    fn mark(&mut self, mark: u64) {
        self.exact = true;
        self.mode = match mark as i64 {
            -32 => CpuMode::Hypervisor,
            -128 => CpuMode::Kernel,
            -512 => CpuMode::User,
            -640 => {
                // The next value is a cookie by which the kernel will send the rest of the chain
                // later.
                self.values.next();
                CpuMode::User
            }
            -2048 | -2560 => CpuMode::GuestUser,
            -2176 => CpuMode::GuestKernel,
            _ => CpuMode::Unknown,
        };
    }
}

impl<I: Iterator<Item = u64>> Iterator for Chain<I> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            let value = self.values.next()?;
            if value >= Self::FIRST_MARK {
                self.mark(value);
                continue;
            }
            // The call instruction comes before its return address, which may already belong to the
            // next function. If a thread entered the kernel by a system call, the address is just
            // after an instruction of the same function. If the thread was interrupted, the address
            // is that of the instruction that ran.
            let address = if self.exact { value } else { value.saturating_sub(1) };
            // A zero ends a chain in which a frame has no frame pointer.
            let is_end = value == 0 && !self.exact;
            self.exact = false;
            if !is_end {
                return Some(Step { mode: self.mode, address });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_say_who_ran_and_returns_are_looked_up_before_them() {
        let mark = |number: i64| number as u64;
        let values = [mark(-128), 900, 800, mark(-512), 70, 60, 0, mark(-2176), 5];
        let steps: Vec<(CpuMode, u64)> = Chain::new(values.into_iter(), CpuMode::User)
            .map(|step| (step.mode, step.address))
            .collect();
        let (kernel, user) = (CpuMode::Kernel, CpuMode::User);
        let expected =
            [(kernel, 900), (kernel, 799), (user, 70), (user, 59), (CpuMode::GuestKernel, 5)];
        assert_eq!(steps, expected);
    }
}
