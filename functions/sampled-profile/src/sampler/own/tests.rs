//! The sampler on machines that are not here, and with buffers that are too small.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;

use kilocore_process::Output;

use super::*;
use crate::sampler::recording::{Tools, record_with};
use crate::sampler::scan::scan;
use crate::sampler::{Backend, Hertz, Recording, Taker};

/// A shell that is busy for some tenths of a second.
const BUSY: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";

/// Whether samples can be taken here at all: containers may forbid the system call. Says if not.
fn can_sample() -> bool {
    match shell(&tools(), "true", |options| options.backend = Backend::Own).0 {
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

/// A kernel that refuses.
struct Refusing {
    paranoid: i32,
    error: i32,
}

impl Kernel for Refusing {
    fn open(
        &self,
        _: &mut perf_event_open_sys::bindings::perf_event_attr,
        _: libc::pid_t,
        _: CpuId,
    ) -> io::Result<kilocore_linux::perf_events::Event> {
        Err(io::Error::from_raw_os_error(self.error))
    }

    fn paranoid(&self) -> Option<i32> {
        Some(self.paranoid)
    }

    fn highest_frequency(&self) -> Option<u32> {
        None
    }

    fn online(&self) -> Vec<CpuId> {
        vec![CpuId(0)]
    }
}

fn tools() -> Tools<Host> {
    Tools {
        perf: "/nowhere/perf".into(),
        host: Host,
        buffers: Buffers::of(CallGraph::FramePointers),
    }
}

/// Records a shell script; what came of it, and what is in the folder of the profile then.
fn shell<K: Kernel + Sync>(
    tools: &Tools<K>,
    script: &str,
    change: impl FnOnce(&mut Options<'_>),
) -> (Result<Recording, SampleError>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path().join("perf.data"));
    options.program_output = Output::Discarded;
    change(&mut options);
    let command = ["sh", "-c", script].map(OsString::from);
    (record_with(tools, &command, &options), folder)
}

#[test]
fn what_does_not_fit_into_the_buffers_is_counted() {
    if !can_sample() {
        return;
    }
    // A buffer of a page is full at once, and never half read: nobody is woken up.
    let buffers = Buffers { pages: 1, watermark: u32::MAX };
    let tools = Tools { buffers, ..tools() };
    let (recording, folder) = shell(&tools, BUSY, |options| {
        (options.frequency, options.scope) = (Hertz(5000), Scope::Processes);
    });
    let recording = recording.unwrap();
    assert!(recording.warnings.iter().any(|warning| warning.contains("lost")));
    assert!(recording.samples > 0 && recording.lost > recording.samples, "{recording:?}");
    let file = folder.path().join("perf.data");
    let tally = scan(&file, &file).unwrap().tally;
    assert_eq!((tally.samples, tally.lost()), (recording.samples, recording.lost));
}

#[test]
fn buffers_shrink_until_they_are_granted() {
    if !can_sample() {
        return;
    }
    // Only powers of two are.
    let tools = Tools { buffers: Buffers { pages: 6, watermark: 1024 }, ..tools() };
    let (recording, _folder) = shell(&tools, "true", |_| {});
    let warnings = recording.unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("ulimit -l")), "{warnings:?}");
}

#[test]
fn buffers_that_are_not_granted_are_refused() {
    if !can_sample() {
        return;
    }
    let mut warnings = Vec::new();
    // SAFETY: it cannot be mapped.
    let unwritable =
        unsafe { kilocore_linux::perf_events::Event::of(File::open("/dev/null").unwrap().into()) };
    let refused = rings(vec![(CpuId(3), unwritable)], 4, &mut warnings);
    assert!(matches!(refused, Err(SampleError::Buffer { core: 3, .. })), "{refused:?}");
}

#[test]
fn kernels_that_forbid_it_are_told_before_the_program_begins() {
    for (paranoid, error, named) in [
        (3, libc::EACCES, "sysctl kernel.perf_event_paranoid=1"),
        (2, libc::EPERM, "seccomp"),
        (2, libc::ENOSYS, "CONFIG_PERF_EVENTS"),
        (2, libc::EMFILE, "ulimit -n"),
    ] {
        let host = Refusing { paranoid, error };
        let Tools { perf, buffers, .. } = tools();
        let trace = tempfile::tempdir().unwrap();
        let script = format!("touch {}/trace", trace.path().display());
        let (refused, folder) = shell(&Tools { perf, host, buffers }, &script, |_| {});
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        for folder in [&folder, &trace] {
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}

#[test]
fn without_perf_the_own_sampler_records() {
    if !can_sample() {
        return;
    }
    let (recording, _folder) = shell(&tools(), "true", |_| {});
    assert_eq!(recording.unwrap().taker, Taker::Own);
    let (refused, _folder) = shell(&tools(), "true", |options| options.backend = Backend::Perf);
    assert!(matches!(refused, Err(SampleError::NoPerf)), "{refused:?}");
}

#[test]
fn a_perf_that_does_not_work_is_told_of() {
    if !can_sample() {
        return;
    }
    let tools = Tools { perf: "false".into(), ..tools() };
    // It is not asked if whole cores may be watched.
    let processes = |options: &mut Options<'_>| options.scope = Scope::Processes;
    let (recording, _folder) = shell(&tools, "true", processes);
    let recording = recording.unwrap();
    assert_eq!(recording.taker, Taker::Own);
    assert!(recording.warnings.iter().any(|warning| warning.contains("perf")));
    let (refused, folder) = shell(&tools, "true", |options| options.backend = Backend::Perf);
    assert!(matches!(refused, Err(SampleError::Perf { .. })), "{refused:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_disk_that_is_full_is_told_when_the_program_has_ended() {
    if !can_sample() {
        return;
    }
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let options = Options::new("perf.data");
    let pid = std::process::id() as libc::pid_t;
    let buffers = Buffers::of(CallGraph::FramePointers);
    let opened = open(&Host, pid, &options, buffers).unwrap();
    let sampler = Sampler::begin(opened, pid, &[], &options, buffers, full(), Vec::new());
    let refused = sampler.unwrap().finish();
    assert!(matches!(refused, Err(SampleError::Output { .. })), "{refused:?}");
}
