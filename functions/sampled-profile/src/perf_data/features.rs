//! The feature sections of a recording: host, command, events, build ids and the like.

use kilocore_symbols::BuildId;
use linux_perf_data::Feature;

use super::bytes::{Bytes, text};
use super::layout::{Layout, RecordHeader};
use crate::clock::stated_ghz;
use crate::event_name::is_of_one_kind;

/// The build of a file that was seen in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenFile {
    pub(super) path: String,
    /// Whether it is the kernel's, or one of its modules'.
    pub(super) is_kernel: bool,
    pub(super) build_id: BuildId,
}

/// What a recording's feature sections tell about it.
#[derive(Debug, Clone, Default)]
pub(super) struct Features {
    pub(super) host: Option<String>,
    pub(super) release: Option<String>,
    pub(super) architecture: Option<String>,
    pub(super) command: Option<String>,
    /// The nominal clock of all cores in GHz, if the processor's name states it and there is one kind
    /// of cores.
    pub(super) clock_ghz: Option<f64>,
    /// Times of the first and the last sample, in nanoseconds.
    pub(super) sample_times: Option<(u64, u64)>,
    /// Names of events, each with the ids of its records.
    pub(super) events: Vec<(String, Vec<u64>)>,
    pub(super) files: Vec<SeenFile>,
    /// How records were compressed: 1 is zstd.
    pub(super) compression: Option<u32>,
}

impl Features {
    /// Decodes all features that it can. Those that are damaged are left out.
    pub(super) fn of(layout: &Layout) -> Self {
        let section = |feature: Feature| {
            let bytes = layout.features.get(&feature.0)?;
            Some(Bytes::new(bytes, layout.big_endian))
        };
        let string = |feature| section(feature)?.text().filter(|text| !text.is_empty());
        let events = section(Feature::EVENT_DESC).map(events).unwrap_or_default();
        let is_hybrid = layout.features.contains_key(&Feature::HYBRID_TOPOLOGY.0)
            || events.iter().any(|(name, _)| is_of_one_kind(name.as_bytes()));
        let processor = string(Feature::CPUDESC).filter(|_| !is_hybrid);
        let times = |mut bytes: Bytes<'_>| Some((bytes.u64()?, bytes.u64()?));
        let compression = |mut bytes: Bytes<'_>| {
            let _version = bytes.u32()?;
            bytes.u32()
        };
        let files = section(Feature::BUILD_ID).map(build_ids).unwrap_or_default();
        let of_pipe = layout
            .build_ids
            .iter()
            .filter_map(|(misc, body)| build_id(*misc, Bytes::new(body, layout.big_endian)));
        Self {
            host: string(Feature::HOSTNAME),
            release: string(Feature::OSRELEASE),
            architecture: string(Feature::ARCH),
            command: section(Feature::CMDLINE).and_then(command),
            sample_times: section(Feature::SAMPLE_TIME).and_then(times),
            clock_ghz: processor.and_then(|name| stated_ghz(&name)),
            events,
            files: files.into_iter().chain(of_pipe).collect(),
            compression: section(Feature::COMPRESSED).and_then(compression),
        }
    }

    /// The build id of a file that a process had mapped.
    pub(super) fn build_id(&self, path: &str) -> Option<&BuildId> {
        let of_path = |file: &&SeenFile| !file.is_kernel && file.path == path;
        self.files.iter().find(of_path).map(|file| &file.build_id)
    }

    /// The build id of the kernel itself, not of a module.
    pub(super) fn kernel_build_id(&self) -> Option<&BuildId> {
        let is_it = |file: &&SeenFile| {
            let is_module = file.path.ends_with(".ko") || file.path.contains(".ko.");
            let is_named = file.path.starts_with("[kernel") || !file.path.starts_with('[');
            file.is_kernel && is_named && !is_module
        };
        self.files.iter().find(is_it).map(|file| &file.build_id)
    }
}

/// A command with its arguments.
fn command(mut bytes: Bytes<'_>) -> Option<String> {
    let count = bytes.u32()?;
    let words: Vec<String> = (0..count).map_while(|_| bytes.text()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Reads the names of events. Their attributes are read elsewhere.
fn events(mut bytes: Bytes<'_>) -> Vec<(String, Vec<u64>)> {
    let mut read = || Some((bytes.u32()?, bytes.u32()?));
    let Some((count, attr_size)) = read() else { return Vec::new() };
    let mut event = || {
        bytes.take(attr_size.into())?;
        let ids = bytes.u32()?;
        let name = bytes.text()?;
        let ids = bytes.u64s(ids.into())?.iter().collect();
        // perf 6 writes a comma after a name.
        Some((name.trim().trim_end_matches(',').to_owned(), ids))
    };
    (0..count).map_while(|_| event()).collect()
}

fn build_ids(mut bytes: Bytes<'_>) -> Vec<SeenFile> {
    let mut files = Vec::new();
    let mut next = |bytes: &mut Bytes<'_>| {
        let header = RecordHeader::parse(bytes)?;
        let body = bytes.take(header.size.checked_sub(RecordHeader::SIZE)?.into())?;
        files.extend(build_id(header.misc, bytes.of_same_order(body)));
        Some(())
    };
    while next(&mut bytes).is_some() {}
    files
}

/// Reads the build id from a record without its header.
fn build_id(misc: u16, mut bytes: Bytes<'_>) -> Option<SeenFile> {
    /// The flag that says that byte 20 is the length of the id.
    const HAS_SIZE: u16 = 1 << 15;
    /// The bits that tell whose file it is: the kernel's, a program's, or that of a guest system.
    const MODE: u16 = 7;
    const KERNELS: [u16; 2] = [1, 4];
    let _process = bytes.u32()?;
    let id = bytes.take(24)?;
    let size = if misc & HAS_SIZE != 0 { usize::from(id[20]).min(20) } else { 20 };
    let mut id = &id[..size];
    if misc & HAS_SIZE == 0 {
        // Without a length, shorter ids are padded with words of zeros.
        while let Some(shorter) = id.strip_suffix(&[0; 4]) {
            id = shorter;
        }
    }
    Some(SeenFile {
        path: text(bytes.rest()),
        is_kernel: KERNELS.contains(&(misc & MODE)),
        build_id: BuildId::new(id)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_are_as_long_as_they_say() {
        let record = |misc: u16, size: u8| {
            let mut body = 77_u32.to_le_bytes().to_vec();
            body.extend([1, 2, 3, 4, 5, 6, 7, 8]);
            body.extend([0; 12]);
            body.extend([size, 0, 0, 0]);
            body.extend(b"/bin/x\0\0");
            build_id(misc, Bytes::new(&body, false)).expect("it is whole")
        };
        let plain = record(2, 99);
        assert_eq!(
            (plain.build_id.to_string(), &*plain.path),
            ("0102030405060708".into(), "/bin/x")
        );
        assert!(!plain.is_kernel && record(1, 0).is_kernel);
        assert_eq!(record(2 | 1 << 15, 9).build_id.to_string(), "010203040506070800");
    }
}
