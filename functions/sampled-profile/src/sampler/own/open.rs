//! Opens the events. It asks for everything first, and gives up one demand after another until the
//! kernel agrees.

use std::io;

use kilocore_linux::perf_events::Event as KernelEvent;
use kilocore_process::CpuId;
use perf_event_open_sys::bindings::perf_event_attr;

use super::attribute::{Allowed, attribute};
use super::kernel::Kernel;
use crate::sampler::{CallGraph, Event, Hertz, KernelSamples, SampleError, Scope};

/// The events that the sampler wants opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) scope: Scope,
    pub(crate) event: Event,
    pub(crate) frequency: Hertz,
    pub(crate) call_graph: CallGraph,
    /// So many bytes in a buffer wake its reader up.
    pub(crate) watermark: u32,
}

/// The events that the kernel let the sampler open, with what it allowed.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The event of each core: of the core as a whole, or of the process and all that it starts.
    pub(crate) events: Vec<(CpuId, KernelEvent)>,
    /// The attribute of all of them.
    pub(crate) attribute: perf_event_attr,
    pub(crate) frequency: Hertz,
    pub(crate) kernel: KernelSamples,
    pub(crate) scope: Scope,
    pub(crate) counts_losses: bool,
    pub(crate) warnings: Vec<String>,
}

/// Opens the event for a process on every core: a program may leave those it was given.
pub(crate) fn open(
    host: &impl Kernel,
    pid: libc::pid_t,
    wanted: Wanted,
) -> Result<Opened, SampleError> {
    let mut warnings = Vec::new();
    let frequency = attainable(host, wanted.frequency, &mut warnings);
    let cores = host.online();
    let whole = wanted.scope == Scope::Cores && wanted.event != Event::TaskClock;
    let allowed = Allowed { cores: whole, kernel: true, lost: true };
    let mut opening = Opening { host, pid, wanted, frequency, allowed };
    let mut events = Vec::new();
    for &core in &cores {
        match opening.on(core, events.is_empty()) {
            Ok(fd) => events.push((core, fd)),
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {
                warnings.push(format!("core {} is off and not sampled", core.0));
            }
            Err(error) => return Err(opening.refusal(error, core, cores.len())),
        }
    }
    if events.is_empty() {
        let off = io::Error::from_raw_os_error(libc::ENODEV);
        return Err(opening.refusal(off, CpuId(0), cores.len()));
    }
    let kernel = match opening.allowed.kernel {
        true => KernelSamples::Included,
        false => KernelSamples::Excluded { why: why_excluded(host.paranoid()) },
    };
    Ok(Opened {
        events,
        attribute: opening.attribute(),
        frequency,
        kernel,
        scope: if opening.allowed.cores { Scope::Cores } else { Scope::Processes },
        counts_losses: opening.allowed.lost,
        warnings,
    })
}

/// The frequency, as far as the kernel takes it.
fn attainable(host: &impl Kernel, wanted: Hertz, warnings: &mut Vec<String>) -> Hertz {
    let highest = host.highest_frequency().map_or(wanted, Hertz);
    if wanted <= highest || highest.0 == 0 {
        return wanted;
    }
    warnings.push(format!(
        "sampling with {highest} instead of {wanted}, which is the most that \
         kernel.perf_event_max_sample_rate allows"
    ));
    highest
}

/// Why there are no samples of the kernel, and what would mend it.
pub(crate) fn why_excluded(paranoid: Option<i32>) -> String {
    match paranoid {
        Some(paranoid) if paranoid > 1 => format!(
            "kernel.perf_event_paranoid is {paranoid}; as root, `sysctl \
             kernel.perf_event_paranoid=1` allows samples of the kernel"
        ),
        _ => "the kernel refuses samples of itself to this user; run as root".to_owned(),
    }
}

/// The state of opening: what was given up so far.
struct Opening<'a, K> {
    host: &'a K,
    pid: libc::pid_t,
    wanted: Wanted,
    frequency: Hertz,
    allowed: Allowed,
}

impl<K: Kernel> Opening<'_, K> {
    fn attribute(&self) -> perf_event_attr {
        let Wanted { event, call_graph, watermark, .. } = self.wanted;
        attribute(event, self.frequency, call_graph, watermark, self.allowed)
    }

    /// Opens the event on a core; on the first, gives way to what the kernel does not allow. All
    /// cores are asked for the same, because the file says of all what it says of one.
    fn on(&mut self, core: CpuId, first: bool) -> io::Result<KernelEvent> {
        loop {
            // To the kernel, no process is all of them.
            let pid = if self.allowed.cores { -1 } else { self.pid };
            let error = match self.host.open(&mut self.attribute(), pid, core) {
                Ok(fd) => return Ok(fd),
                Err(error) => error,
            };
            match error.raw_os_error() {
                Some(libc::EACCES | libc::EPERM) if first && self.allowed.cores => {
                    self.allowed.cores = false;
                }
                Some(libc::EACCES | libc::EPERM) if first && self.allowed.kernel => {
                    self.allowed.kernel = false;
                }
                Some(libc::EINVAL) if first && self.allowed.lost => self.allowed.lost = false,
                Some(libc::EINTR) => {}
                _ => return Err(error),
            }
        }
    }

    fn refusal(&self, source: io::Error, core: CpuId, cores: usize) -> SampleError {
        let event = self.wanted.event.name();
        match source.raw_os_error() {
            Some(libc::ENOSYS) => SampleError::NoPerfEvents { source },
            Some(libc::EACCES | libc::EPERM) => match self.host.paranoid() {
                // Some distributions have a level 3 that allows users nothing at all.
                Some(paranoid) if paranoid >= 3 => SampleError::Paranoid { paranoid },
                _ => SampleError::Sandbox { source },
            },
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
                SampleError::NoEvent { event, source }
            }
            Some(libc::EMFILE | libc::ENFILE) => SampleError::Files { cores, source },
            _ => SampleError::Event { event, core: core.0, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// What a kernel was asked for: a core, as a whole, samples of the kernel, losses.
    type Asked = (u32, bool, bool, bool);

    /// A kernel that answers as told.
    struct HeaderFacts<F> {
        paranoid: Option<i32>,
        answer: F,
        asked: RefCell<Vec<Asked>>,
    }

    impl<F: Fn(Asked) -> i32> Kernel for HeaderFacts<F> {
        fn open(
            &self,
            attr: &mut perf_event_attr,
            pid: libc::pid_t,
            core: CpuId,
        ) -> io::Result<KernelEvent> {
            let (kernel, lost) = (attr.exclude_kernel() == 0, attr.read_format & 16 != 0);
            assert_eq!(pid == -1, attr.inherit() == 0 && attr.enable_on_exec() == 0);
            let asked = (core.0, pid == -1, kernel, lost);
            self.asked.borrow_mut().push(asked);
            match (self.answer)(asked) {
                // SAFETY: nobody maps it.
                0 => Ok(unsafe { KernelEvent::of(tempfile::tempfile().unwrap().into()) }),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }

        fn paranoid(&self) -> Option<i32> {
            self.paranoid
        }

        fn highest_frequency(&self) -> Option<u32> {
            Some(1000)
        }

        fn online(&self) -> Vec<CpuId> {
            vec![CpuId(0), CpuId(2)]
        }
    }

    const WANTED: Wanted = Wanted {
        scope: Scope::Cores,
        event: Event::CpuClock,
        frequency: Hertz(500),
        call_graph: CallGraph::FramePointers,
        watermark: 4096,
    };

    fn told<F: Fn(Asked) -> i32>(paranoid: i32, answer: F) -> HeaderFacts<F> {
        HeaderFacts { paranoid: Some(paranoid), answer, asked: RefCell::default() }
    }

    #[test]
    fn a_kernel_that_allows_all_is_asked_once_for_each_core() {
        let host = told(-1, |_| 0);
        let opened = open(&host, 1, WANTED).unwrap();
        assert_eq!(*host.asked.borrow(), [(0, true, true, true), (2, true, true, true)]);
        assert_eq!((opened.kernel, opened.counts_losses), (KernelSamples::Included, true));
        assert_eq!(opened.scope, Scope::Cores);
        assert!(opened.warnings.is_empty() && opened.events.len() == 2);
    }

    #[test]
    fn users_get_no_samples_of_the_kernel_and_are_told_why() {
        let host = told(2, |(_, whole, kernel, _)| if whole || kernel { libc::EACCES } else { 0 });
        let opened = open(&host, 1, WANTED).unwrap();
        assert_eq!(opened.attribute.exclude_kernel(), 1);
        let KernelSamples::Excluded { why } = opened.kernel else { panic!("it was refused") };
        assert!(why.contains("kernel.perf_event_paranoid=1"), "{why}");
        assert_eq!(host.asked.borrow().last(), Some(&(2, false, false, true)));
    }

    #[test]
    fn who_may_not_watch_whole_cores_watches_processes() {
        let host = told(1, |(_, whole, _, _)| if whole { libc::EACCES } else { 0 });
        let opened = open(&host, 1, WANTED).unwrap();
        assert_eq!((opened.scope, opened.kernel), (Scope::Processes, KernelSamples::Included));
        let clock = Wanted { event: Event::TaskClock, ..WANTED };
        assert_eq!(open(&told(-1, |_| 0), 1, clock).unwrap().scope, Scope::Processes);
    }

    #[test]
    fn kernels_that_do_not_count_losses_are_asked_without() {
        let host = told(0, |(.., lost)| if lost { libc::EINVAL } else { 0 });
        let opened = open(&host, 1, WANTED).unwrap();
        assert!(!opened.counts_losses && opened.kernel == KernelSamples::Included);
    }

    #[test]
    fn each_refusal_has_its_reason_and_its_mend() {
        let refused = |paranoid, error| open(&told(paranoid, |_| error), 1, WANTED).unwrap_err();
        let text = |paranoid, error| refused(paranoid, error).to_string();
        assert!(matches!(refused(3, libc::EACCES), SampleError::Paranoid { paranoid: 3 }));
        assert!(text(4, libc::EPERM).contains("sysctl kernel.perf_event_paranoid=1"));
        assert!(matches!(refused(2, libc::EPERM), SampleError::Sandbox { .. }));
        assert!(text(1, libc::EPERM).contains("seccomp"));
        assert!(matches!(refused(1, libc::ENOSYS), SampleError::NoPerfEvents { .. }));
        assert!(matches!(
            refused(1, libc::ENOENT),
            SampleError::NoEvent { event: "cpu-clock", .. }
        ));
        assert!(text(1, libc::EMFILE).contains("ulimit -n"));
        assert!(matches!(refused(1, libc::ENODEV), SampleError::NoEvent { .. }));
        assert!(matches!(refused(1, libc::EINVAL), SampleError::Event { core: 0, .. }));
    }

    #[test]
    fn a_core_that_is_off_is_left_out() {
        let host = told(1, |(core, ..)| if core == 2 { libc::ENODEV } else { 0 });
        let opened = open(&host, 1, WANTED).unwrap();
        assert_eq!((opened.events.len(), opened.warnings.len()), (1, 1));
    }

    #[test]
    fn frequencies_beyond_the_kernels_bound_are_lowered() {
        let wanted = Wanted { frequency: Hertz(5000), ..WANTED };
        let opened = open(&told(1, |_| 0), 1, wanted).unwrap();
        assert_eq!((opened.frequency, opened.warnings.len()), (Hertz(1000), 1));
    }
}
