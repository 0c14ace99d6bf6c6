//! Files of perf's, made by hand, for what cannot be recorded at will.

/// The bits of `perf_event_attr::sample_type`.
pub(crate) mod sample_type {
    pub(crate) const IP: u64 = 1;
    pub(crate) const TID: u64 = 1 << 1;
    pub(crate) const TIME: u64 = 1 << 2;
    pub(crate) const READ: u64 = 1 << 4;
    pub(crate) const CALLCHAIN: u64 = 1 << 5;
    pub(crate) const CPU: u64 = 1 << 7;
    pub(crate) const PERIOD: u64 = 1 << 8;
    pub(crate) const BRANCH_STACK: u64 = 1 << 11;
    pub(crate) const IDENTIFIER: u64 = 1 << 16;
}

/// The types of records, as in `perf_event_header::type`.
pub(crate) mod kind {
    pub(crate) const MMAP: u32 = 1;
    pub(crate) const LOST: u32 = 2;
    pub(crate) const THROTTLE: u32 = 5;
    pub(crate) const SAMPLE: u32 = 9;
    pub(crate) const MMAP2: u32 = 10;
    pub(crate) const LOST_SAMPLES: u32 = 13;
    pub(crate) const KSYMBOL: u32 = 17;
    pub(crate) const FINISHED_ROUND: u32 = 68;
    pub(crate) const AUXTRACE: u32 = 71;
    pub(crate) const COMPRESSED: u32 = 81;
}

/// Who ran, in the flags of a record.
pub(crate) mod mode {
    pub(crate) const KERNEL: u16 = 1;
    pub(crate) const USER: u16 = 2;
    pub(crate) const HYPERVISOR: u16 = 3;
    pub(crate) const GUEST_KERNEL: u16 = 4;
    pub(crate) const GUEST_USER: u16 = 5;
}

/// Bytes of one order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bytes {
    pub(crate) bytes: Vec<u8>,
    big_endian: bool,
}

impl Bytes {
    pub(crate) fn new(big_endian: bool) -> Self {
        Self { bytes: Vec::new(), big_endian }
    }

    fn number(mut self, value: u64, size: usize) -> Self {
        match self.big_endian {
            true => self.bytes.extend(&value.to_be_bytes()[8 - size..]),
            false => self.bytes.extend(&value.to_le_bytes()[..size]),
        }
        self
    }

    pub(crate) fn u16(self, value: u16) -> Self {
        self.number(value.into(), 2)
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.number(value.into(), 4)
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        self.number(value, 8)
    }

    pub(crate) fn u64s(self, values: &[u64]) -> Self {
        values.iter().fold(self, |bytes, value| bytes.u64(*value))
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// A name, with zeros up to a multiple of eight.
    pub(crate) fn name(mut self, name: &str) -> Self {
        self.bytes.extend(name.as_bytes());
        self.bytes.push(0);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) branches: u64,
}

impl Event {
    /// Processor time in nanoseconds, with these fields in each sample.
    pub(crate) fn cpu_clock(sample_type: u64) -> Self {
        let (kind, config) = (1, 0);
        Self { kind, config, period: 1000, sample_type, read_format: 0, branches: 0 }
    }
}

/// A file on its way.
#[derive(Debug, Clone)]
pub(crate) struct File {
    big_endian: bool,
    events: Vec<(Event, Vec<u64>)>,
    pub(crate) records: Vec<u8>,
    /// The contents of feature sections, by the bit of the feature, ascending.
    pub(crate) features: Vec<(u32, Vec<u8>)>,
}

impl File {
    /// Where the records of a file begin that has one event without ids.
    pub(crate) const FIRST_RECORD: usize = Self::HEADER + Self::ATTR + 16;
    const HEADER: usize = 104;
    const ATTR: usize = 128;

    pub(crate) fn new(event: Event) -> Self {
        Self::of_events(&[(event, &[])])
    }

    pub(crate) fn of_events(events: &[(Event, &[u64])]) -> Self {
        let events = events.iter().map(|(event, ids)| (*event, ids.to_vec())).collect();
        Self { big_endian: false, events, records: Vec::new(), features: Vec::new() }
    }

    pub(crate) fn big_endian(mut self) -> Self {
        self.big_endian = true;
        self
    }

    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::new(self.big_endian)
    }

    pub(crate) fn record(mut self, kind: u32, misc: u16, body: Bytes) -> Self {
        let size = u16::try_from(body.bytes.len() + 8).expect("records are short");
        let record = self.bytes().u32(kind).u16(misc).u16(size).raw(&body.bytes);
        self.records.extend(record.bytes);
        self
    }

    /// A sample of user space, or of what else ran, at an address and nothing more.
    pub(crate) fn sample(self, misc: u16, body: impl FnOnce(Bytes) -> Bytes) -> Self {
        let body = body(self.bytes());
        self.record(kind::SAMPLE, misc, body)
    }

    /// A file is mapped into a process.
    pub(crate) fn map(self, process: u32, start: u64, size: u64, offset: u64, path: &str) -> Self {
        let body = self.bytes().u32(process).u32(process).u64s(&[start, size, offset]);
        self.record(kind::MMAP, mode::USER, body.name(path))
    }

    fn attr(&self, event: &Event) -> Bytes {
        let attr = self.bytes().u32(event.kind).u32(Self::ATTR as u32).u64(event.config);
        let attr = attr.u64s(&[event.period, event.sample_type, event.read_format, 0]);
        let attr = attr.u32(0).u32(0).u64s(&[0, 0, event.branches]);
        let rest = Self::ATTR - attr.bytes.len();
        attr.raw(&vec![0; rest])
    }

    fn magic(&self) -> &'static [u8; 8] {
        if self.big_endian { b"2ELIFREP" } else { b"PERFILE2" }
    }

    /// The bytes of an ordinary file.
    pub(crate) fn file(&self) -> Vec<u8> {
        let entry = (Self::ATTR + 16) as u64;
        let attrs = entry * self.events.len() as u64;
        let all_ids: u64 = self.events.iter().map(|(_, ids)| ids.len() as u64 * 8).sum();
        let data = Self::HEADER as u64 + attrs + all_ids;
        let mut flags = [0_u64; 4];
        for (bit, _) in &self.features {
            flags[*bit as usize / 64] |= 1 << (bit % 64);
        }
        let mut file = self.bytes().raw(self.magic()).u64(Self::HEADER as u64).u64(entry);
        file = file.u64s(&[Self::HEADER as u64, attrs, data, self.records.len() as u64, 0, 0]);
        file = file.u64s(&flags);
        let mut ids_at = Self::HEADER as u64 + attrs;
        for (event, ids) in &self.events {
            let size = ids.len() as u64 * 8;
            file = file.raw(&self.attr(event).bytes).u64s(&[ids_at, size]);
            ids_at += size;
        }
        for (_, ids) in &self.events {
            file = file.u64s(ids);
        }
        file = file.raw(&self.records);
        let mut at = (file.bytes.len() + 16 * self.features.len()) as u64;
        for (_, section) in &self.features {
            file = file.u64s(&[at, section.len() as u64]);
            at += section.len() as u64;
        }
        let sections = self.features.iter().flat_map(|(_, section)| section.clone());
        file.raw(&sections.collect::<Vec<u8>>()).bytes
    }
}
