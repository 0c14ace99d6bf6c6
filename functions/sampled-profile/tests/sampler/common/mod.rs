//! The program under test, and profiles as linux-perf-data reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use kilocore_sampled_profile::sampler::{Backend, Options, Output, Recording, SampleError, Scope, record};
use linux_perf_data::linux_perf_event_reader::{CpuMode, EventRecord, SampleRecord};
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use object::{Object, ObjectSegment, ObjectSymbol};

/// The path of `burn.c`, compiled.
pub(crate) fn burn() -> &'static str {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sampler/c/burn.c");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = folder.join("burn");
        let built = tempfile::NamedTempFile::new_in(folder).expect("room").into_temp_path();
        // Without optimization, because even with frame pointers it leaves out those of leaves.
        let status = Command::new("gcc")
            .args(["-O0", "-g", "-pthread", "-fno-omit-frame-pointer", "-o"])
            .args([built.as_os_str(), source.as_os_str()])
            .status()
            .expect("a C compiler is needed for these tests");
        assert!(status.success());
        // Of several tests that compile it, each finds a whole one.
        built.persist(&program).expect("a place for the program");
        program
    });
    program.to_str().expect("a plain path")
}

pub(crate) fn words(command: &[&str]) -> Vec<OsString> {
    command.iter().map(OsString::from).collect()
}

/// Whether samples can be taken here at all: containers may forbid the system call. Says if not.
pub(crate) fn can_sample() -> bool {
    let folder = tempfile::tempdir().expect("room");
    let mut options = Options::new(folder.path().join("perf.data"));
    options.backend = Backend::Own;
    match record(&words(&["true"]), &options) {
        Err(
            error @ (SampleError::Paranoid { .. }
            | SampleError::Sandbox { .. }
            | SampleError::NoPerfEvents { .. }),
        ) => {
            eprintln!("not tested, as nothing can be sampled here: {error}");
            false
        }
        _ => true,
    }
}

/// A way to record.
pub(crate) type Way = (Backend, Scope);

/// Records a command, without its output, and reads the profile.
pub(crate) fn recorded(
    command: &[&str],
    way: Way,
    change: impl FnOnce(&mut Options<'_>),
) -> (Recording, Profile) {
    let folder = tempfile::tempdir().expect("room");
    let mut options = Options::new(folder.path().join("perf.data"));
    (options.backend, options.scope) = way;
    options.program_output = Output::Discarded;
    change(&mut options);
    let recording = record(&words(command), &options).expect("it can be recorded");
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left, [options.output.clone()], "nothing else is left behind");
    let profile = Profile::read(&options.output);
    (recording, profile)
}

/// Where a file is mapped.
#[derive(Debug, Clone)]
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    path: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) core: Option<u32>,
    pub(crate) in_kernel: bool,
    /// Functions of the program under test: where it was, and who called.
    pub(crate) functions: Vec<String>,
}

/// What is in a profile.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub(crate) samples: Vec<Sample>,
    pub(crate) lost: u64,
    /// Names that processes took when they executed something.
    pub(crate) executed: Vec<String>,
    pub(crate) forked: BTreeSet<i32>,
    pub(crate) ended: BTreeSet<i32>,
    pub(crate) kernel_mapped: bool,
    pub(crate) events: Vec<String>,
    pub(crate) hostname: Option<String>,
    pub(crate) command: Vec<String>,
    pub(crate) time_range: Option<(u64, u64)>,
    pub(crate) kernel_has_build_id: bool,
    mappings: BTreeMap<i32, Vec<Mapping>>,
}

impl Profile {
    pub(crate) fn read(path: &Path) -> Self {
        let file = BufReader::new(File::open(path).expect("there is a profile"));
        let PerfFileReader { mut perf_file, mut record_iter } =
            PerfFileReader::parse_file(file).expect("it is one");
        let mut profile = Self::default();
        let names = perf_file.event_attributes().iter();
        profile.events = names.filter_map(|event| event.name().map(str::to_owned)).collect();
        profile.hostname = perf_file.hostname().unwrap().map(str::to_owned);
        let words = perf_file.cmdline().unwrap().unwrap_or_default();
        profile.command = words.into_iter().map(str::to_owned).collect();
        let range = perf_file.sample_time_range().unwrap();
        profile.time_range = range.map(|range| (range.first_sample_time, range.last_sample_time));
        let kernel = |key: &linux_perf_data::DsoKey| *key == linux_perf_data::DsoKey::Kernel;
        profile.kernel_has_build_id = perf_file.build_ids().unwrap().keys().any(kernel);
        let symbols = symbols(burn());
        let mut last = 0;
        while let Some(record) = record_iter.next_record(&mut perf_file).expect("whole records") {
            let PerfFileRecord::EventRecord { record, .. } = record else { continue };
            let time = record.timestamp().unwrap_or(0);
            assert!(time == 0 || time >= last, "records are out of order");
            last = last.max(time);
            profile.add(record.parse().expect("a whole record"), &symbols);
        }
        profile
    }

    fn add(&mut self, record: EventRecord<'_>, symbols: &Symbols) {
        match record {
            EventRecord::Sample(sample) => {
                let sample = self.sample(&sample, symbols);
                self.samples.push(sample);
            }
            EventRecord::Comm(comm) if comm.is_execve => {
                self.mappings.remove(&comm.pid);
                self.executed.push(text(&comm.name.as_slice()));
            }
            EventRecord::Fork(fork) if fork.pid != fork.ppid => {
                self.forked.insert(fork.pid);
                let inherited = self.mappings.get(&fork.ppid).cloned().unwrap_or_default();
                self.mappings.insert(fork.pid, inherited);
            }
            EventRecord::Exit(exit) if exit.pid == exit.tid => {
                self.ended.insert(exit.pid);
            }
            EventRecord::Mmap(map) => {
                self.kernel_mapped |= map.pid == -1
                    && text(&map.path.as_slice()).starts_with("[kernel.kallsyms]")
                    && map.length > 0;
            }
            EventRecord::Mmap2(map) => self.mappings.entry(map.pid).or_default().push(Mapping {
                start: map.address,
                end: map.address + map.length,
                offset: map.page_offset,
                path: text(&map.path.as_slice()).into(),
            }),
            EventRecord::Lost(lost) => self.lost += lost.count,
            _ => {}
        }
    }

    fn sample(&self, sample: &SampleRecord<'_>, symbols: &Symbols) -> Sample {
        let pid = sample.pid.expect("samples have a process");
        let chain = sample.callchain.as_ref();
        let chain =
            (0..chain.map_or(0, |chain| chain.len())).map(|i| chain.unwrap().get(i).unwrap());
        let addresses = sample.ip.into_iter().chain(chain);
        let function = |address: u64| {
            let mapping = self.mappings.get(&pid)?.iter().rev().find(|mapping| {
                (mapping.start..mapping.end).contains(&address) && mapping.path == Path::new(burn())
            })?;
            symbols.at_offset(address - mapping.start + mapping.offset)
        };
        let mut functions: Vec<String> = addresses.filter_map(function).collect();
        functions.dedup();
        Sample {
            pid,
            tid: sample.tid.expect("samples have a thread"),
            core: sample.cpu,
            in_kernel: sample.cpu_mode == CpuMode::Kernel,
            functions,
        }
    }

    /// The share of samples that are in a function of the program under test, of those that are
    /// not in the kernel.
    pub(crate) fn share(&self, function: &str) -> f64 {
        let user = self.samples.iter().filter(|sample| !sample.in_kernel);
        let (mut all, mut there) = (0, 0);
        for sample in user {
            all += 1;
            there += usize::from(sample.functions.first().is_some_and(|found| found == function));
        }
        there as f64 / f64::from(all.max(1))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or(bytes)).into_owned()
}

/// The functions of a program, by their offsets in its file.
struct Symbols(BTreeMap<u64, (u64, String)>);

impl Symbols {
    fn at_offset(&self, offset: u64) -> Option<String> {
        let (start, (size, name)) = self.0.range(..=offset).next_back()?;
        (offset - start < *size).then(|| name.clone())
    }
}

fn symbols(program: &str) -> Symbols {
    let bytes = fs::read(program).expect("the program is there");
    let object = object::File::parse(&*bytes).expect("a program");
    let offset = |address: u64| {
        let segment =
            object.segments().find(|s| (s.address()..s.address() + s.size()).contains(&address))?;
        Some(address - segment.address() + segment.file_range().0)
    };
    let functions = object.symbols().filter(|symbol| symbol.size() > 0).filter_map(|symbol| {
        Some((offset(symbol.address())?, (symbol.size(), symbol.name().ok()?.to_owned())))
    });
    Symbols(functions.collect())
}
