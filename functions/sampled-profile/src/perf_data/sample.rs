//! Reads one sample.
//!
//! `linux-perf-event-reader` can read samples too, but it has three defects. It does not return
//! branches, so stacks that the processor itself recorded are lost. It confuses the counters of
//! groups with those of single events, so all fields after them are wrong. And a sample that claims
//! a stack of 2⁶¹ addresses makes it overflow.

use linux_perf_data::linux_perf_event_reader::{BranchSampleFormat, PerfEventAttr, SampleFormat};

use super::bytes::{Bytes, Words};

/// How the samples of an event are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampleLayout {
    format: SampleFormat,
    /// The raw value of the file, because the crate knows fewer bits.
    read_format: u64,
    has_branch_index: bool,
    branches_are_stack: bool,
    pub(super) user_registers: u64,
}

/// The bits of `perf_event_attr::read_format`.
mod read_format {
    pub(super) const TIME_ENABLED: u64 = 1;
    pub(super) const TIME_RUNNING: u64 = 2;
    pub(super) const ID: u64 = 4;
    pub(super) const GROUP: u64 = 8;
    pub(super) const LOST: u64 = 16;
}

/// The registers and the stack of user space at the sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserState<'a> {
    /// The registers that were recorded, by ascending number.
    pub(super) registers: Words<'a>,
    /// The memory from the stack pointer upwards.
    pub(super) stack: &'a [u8],
}

/// A record of type `PERF_RECORD_SAMPLE`. A field is `None` if its event does not record it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample<'a> {
    pub(super) ip: Option<u64>,
    /// The numbers of the process and of the thread.
    pub(super) ids: Option<(i32, i32)>,
    pub(super) time: Option<u64>,
    pub(super) processor: Option<u32>,
    pub(super) period: Option<u64>,
    pub(super) chain: Option<Words<'a>>,
    /// Three numbers for each branch (source, target, flags), if the branches are the calls that
    /// have not returned.
    pub(super) calls: Option<Words<'a>>,
    pub(super) user: Option<UserState<'a>>,
}

impl SampleLayout {
    pub(super) fn new(attr: &PerfEventAttr, raw: &[u8], big_endian: bool) -> Self {
        /// The offset of `read_format` in a `perf_event_attr`.
        const READ_FORMAT: usize = 32;
        let read_format = raw.get(READ_FORMAT..);
        let read_format = read_format.and_then(|rest| Bytes::new(rest, big_endian).u64());
        Self {
            format: attr.sample_format,
            read_format: read_format.unwrap_or(0),
            has_branch_index: attr.branch_sample_format.contains(BranchSampleFormat::HW_INDEX),
            branches_are_stack: attr.branch_sample_format.contains(BranchSampleFormat::CALL_STACK),
            user_registers: attr.sample_regs_user,
        }
    }

    fn has(&self, field: SampleFormat) -> bool {
        self.format.contains(field)
    }

    /// Whether samples say how many events they stand for.
    pub(super) fn has_period(&self) -> bool {
        self.has(SampleFormat::PERIOD)
    }

    /// Reads a sample. Returns `None` if the sample breaks off.
    pub(super) fn parse<'a>(&self, mut bytes: Bytes<'a>) -> Option<Sample<'a>> {
        let mut sample = Sample::default();
        let skip = |bytes: &mut Bytes<'a>, field| match self.has(field) {
            true => bytes.u64().map(Some),
            false => Some(None),
        };
        skip(&mut bytes, SampleFormat::IDENTIFIER)?;
        sample.ip = skip(&mut bytes, SampleFormat::IP)?;
        if self.has(SampleFormat::TID) {
            sample.ids = Some((bytes.u32()? as i32, bytes.u32()? as i32));
        }
        sample.time = skip(&mut bytes, SampleFormat::TIME)?;
        skip(&mut bytes, SampleFormat::ADDR)?;
        skip(&mut bytes, SampleFormat::ID)?;
        skip(&mut bytes, SampleFormat::STREAM_ID)?;
        if self.has(SampleFormat::CPU) {
            sample.processor = Some(bytes.u32()?);
            bytes.u32()?;
        }
        sample.period = skip(&mut bytes, SampleFormat::PERIOD)?;
        if self.has(SampleFormat::READ) {
            self.skip_counters(&mut bytes)?;
        }
        if self.has(SampleFormat::CALLCHAIN) {
            let length = bytes.u64()?;
            sample.chain = Some(bytes.u64s(length)?);
        }
        if self.has(SampleFormat::RAW) {
            let size = bytes.u32()?;
            bytes.take(size.into())?;
        }
        if self.has(SampleFormat::BRANCH_STACK) {
            let count = bytes.u64()?;
            if self.has_branch_index {
                bytes.u64()?;
            }
            let branches = bytes.u64s(count.checked_mul(3)?)?;
            sample.calls = self.branches_are_stack.then_some(branches);
        }
        sample.user = self.user_state(&mut bytes)?;
        Some(sample)
    }

    fn skip_counters(&self, bytes: &mut Bytes<'_>) -> Option<()> {
        use read_format::{GROUP, ID, LOST, TIME_ENABLED, TIME_RUNNING};
        let words = |bits: u64| u64::from((self.read_format & bits).count_ones());
        let (shared, each) = (words(TIME_ENABLED | TIME_RUNNING), 1 + words(ID | LOST));
        if self.read_format & GROUP == 0 {
            return bytes.u64s(shared + each).map(drop);
        }
        let count = bytes.u64()?;
        bytes.u64s(shared.checked_add(count.checked_mul(each)?)?).map(drop)
    }

    /// Reads the registers and the stack. The inner value is `None` for a thread of the kernel,
    /// which has no user space.
    fn user_state<'a>(&self, bytes: &mut Bytes<'a>) -> Option<Option<UserState<'a>>> {
        let mut registers = None;
        if self.has(SampleFormat::REGS_USER) && bytes.u64()? != 0 {
            registers = Some(bytes.u64s(self.user_registers.count_ones().into())?);
        }
        let mut stack: &[u8] = &[];
        if self.has(SampleFormat::STACK_USER) {
            let size = bytes.u64()?;
            stack = bytes.take(size)?;
            if size != 0 {
                // The number of bytes that the kernel really copied.
                let used = bytes.u64()?;
                stack = stack.get(..usize::try_from(used).ok()?).unwrap_or(stack);
            }
        }
        Some(registers.map(|registers| UserState { registers, stack }))
    }
}
