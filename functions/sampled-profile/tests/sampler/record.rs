//! Records real programs, both ways, and looks for what is known of them in the profiles.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use common::{Profile, Sample, Way, burn, can_sample, recorded, words};
use kilocore_sampled_profile::sampler::{
    Backend, CallGraph, Counter, Event, Hertz, KernelSamples, Options, Recording, Rule,
    SampleError, Scope, Taker, allowed_cores, record,
};

/// Rounds that take some tenths of a second.
const SOME: &str = "100000000";

const PERF: Way = (Backend::Perf, Scope::Processes);
const CORES: Way = (Backend::Own, Scope::Cores);
const PROCESSES: Way = (Backend::Own, Scope::Processes);
const WAYS: [Way; 3] = [PERF, CORES, PROCESSES];

fn agrees(recording: &Recording, profile: &Profile) {
    assert_eq!(recording.samples, profile.samples.len() as u64);
    assert_eq!(recording.lost, profile.lost);
    assert!(!profile.samples.is_empty());
}

fn functions(sample: &Sample) -> Vec<&str> {
    sample.functions.iter().map(String::as_str).collect()
}

#[test]
fn the_planted_function_is_found_in_both_threads_with_its_callers() {
    if !can_sample() {
        return;
    }
    for way in WAYS {
        let (recording, profile) = recorded(&[burn(), "threads", SOME], way, |_| {});
        agrees(&recording, &profile);
        assert!(recording.status.success() && !recording.interrupted, "{way:?}");
        assert!(profile.share("burn_planted") > 0.9, "{way:?}: {}", profile.share("burn_planted"));
        let chain = ["burn_planted", "calls_burn", "thread"];
        let chains = profile.samples.iter().filter(|sample| functions(sample) == chain);
        let threads: BTreeSet<i32> = chains.map(|sample| sample.tid).collect();
        assert_eq!(threads.len(), 2, "{way:?}");
        assert_eq!(profile.events.first().map(String::as_str), Some("cpu-clock"));
    }
}

#[test]
fn the_own_sampler_says_what_it_recorded() {
    if !can_sample() {
        return;
    }
    let (recording, profile) = recorded(&[burn(), "threads", SOME], CORES, |_| {});
    assert_eq!(recording.taker, Taker::Own);
    assert_eq!(profile.command, [burn(), "threads", SOME]);
    assert_eq!(
        profile.hostname,
        Some(fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned())
    );
    let (first, last) = profile.time_range.expect("there are samples");
    assert!(first <= last && last - first <= recording.elapsed.0);
    assert_eq!(profile.executed, ["burn"]);
    if recording.kernel == KernelSamples::Included {
        assert!(profile.kernel_mapped || !recording.warnings.is_empty());
        assert_eq!(profile.kernel_has_build_id, fs::metadata("/sys/kernel/notes").is_ok());
    }
}

#[test]
fn time_in_the_kernel_is_sampled_there_or_its_absence_told() {
    if !can_sample() {
        return;
    }
    for way in WAYS {
        let (recording, profile) = recorded(&[burn(), "kernel", "200000"], way, |_| {});
        let in_kernel = profile.samples.iter().filter(|sample| sample.in_kernel);
        let (in_kernel, all) = (in_kernel.count(), profile.samples.len());
        match recording.kernel {
            KernelSamples::Included => assert!(in_kernel * 2 > all, "{in_kernel} of {all}"),
            KernelSamples::Excluded { .. } => assert_eq!(in_kernel, 0),
        }
    }
}

#[test]
fn each_of_many_children_is_followed() {
    if !can_sample() {
        return;
    }
    for way in WAYS {
        let command = [burn(), "forks", "2000000", "300"];
        let (recording, profile) = recorded(&command, way, |options| {
            options.frequency = Hertz(2000);
        });
        agrees(&recording, &profile);
        assert_eq!(recording.lost, 0);
        assert_eq!((profile.forked.len(), profile.ended.len()), (300, 301), "{way:?}");
        let sampled: BTreeSet<i32> = profile.samples.iter().map(|sample| sample.pid).collect();
        assert!(profile.forked.intersection(&sampled).count() > 100, "{way:?}");
    }
}

#[test]
fn processes_that_live_shortly_are_sampled_or_missed_aloud() {
    if !can_sample() {
        return;
    }
    for way in [CORES, PROCESSES] {
        let (recording, _) = recorded(&[burn(), "forks", "20000", "3000"], way, |options| {
            options.frequency = Hertz(997);
        });
        let mut time = recording.cpu_time.user.0;
        if recording.kernel == KernelSamples::Included {
            time += recording.cpu_time.system.0;
        }
        let due = time * 997 / 1_000_000_000;
        assert!(due > 100, "too little to tell: {recording:?}");
        match recording.scope {
            // A host that stops this machine for a while takes time and no samples.
            Scope::Cores => assert!(recording.samples > due / 4, "{recording:?}"),
            // On a slow host most of the time goes into forking itself, which is sampled.
            Scope::Processes => assert!(
                recording.samples > due / 2
                    || recording.warnings.iter().any(|warning| warning.contains("hardly any")),
                "{recording:?}"
            ),
        }
    }
}

#[test]
fn what_others_do_is_left_out() {
    if !can_sample() {
        return;
    }
    let mut other = Command::new(burn()).args(["threads", "100000000000"]).spawn().unwrap();
    let (recording, profile) = recorded(&[burn(), "forks", SOME, "2"], CORES, |_| {});
    other.kill().unwrap();
    other.wait().unwrap();
    agrees(&recording, &profile);
    let sampled: BTreeSet<i32> = profile.samples.iter().map(|sample| sample.pid).collect();
    assert!(sampled.is_subset(&profile.ended) && !sampled.contains(&(other.id() as i32)));
    assert_eq!((profile.executed.len(), profile.forked.len(), profile.ended.len()), (1, 2, 3));
}

#[test]
fn a_program_that_executes_another_is_followed() {
    if !can_sample() {
        return;
    }
    for way in WAYS {
        let command = ["sh", "-c", &format!("exec {} exec {SOME}", burn())];
        let (recording, profile) = recorded(&command, way, |_| {});
        agrees(&recording, &profile);
        assert_eq!(profile.executed, ["sh", "burn", "burn"], "{way:?}");
        assert!(profile.share("burn_planted") > 0.8, "{way:?}");
    }
}

#[test]
fn programs_that_end_at_once_or_are_killed_have_profiles() {
    if !can_sample() {
        return;
    }
    for way in WAYS {
        let (recording, profile) = recorded(&["true"], way, |_| {});
        assert!(recording.status.success());
        assert_eq!(recording.samples, profile.samples.len() as u64);
        assert_eq!((profile.executed.len(), profile.ended.len()), (1, 1), "{way:?}");
        let (recording, profile) = recorded(&[burn(), "killed", SOME], way, |_| {});
        assert_eq!(recording.status.signal(), Some(6), "{way:?}");
        agrees(&recording, &profile);
    }
}

#[test]
fn the_program_is_confined_and_sampled_where_it_runs() {
    if !can_sample() {
        return;
    }
    let core = *allowed_cores().last().unwrap();
    for way in WAYS {
        let (recording, profile) = recorded(&[burn(), "threads", SOME], way, |options| {
            options.cores = Some(vec![core]);
        });
        agrees(&recording, &profile);
        assert_eq!(recording.cores, 1);
        // perf attaches before the program is executed, and may see it moved.
        let elsewhere = profile.samples.iter().filter(|sample| sample.core != Some(core.0)).count();
        assert_eq!(elsewhere, 0, "{way:?}");
    }
}

#[test]
fn samples_without_callers_have_none() {
    if !can_sample() {
        return;
    }
    for way in WAYS {
        let (_, profile) = recorded(&[burn(), "threads", SOME], way, |options| {
            options.call_graph = CallGraph::None;
            options.event = Event::TaskClock;
        });
        assert!(profile.samples.iter().all(|sample| sample.functions.len() <= 1));
        assert!(profile.share("burn_planted") > 0.9);
        assert_eq!(profile.events.first().map(String::as_str), Some("task-clock"));
    }
}

#[test]
fn stacks_are_copied_either_way() {
    if !can_sample() {
        return;
    }
    for (backend, taker) in [(Backend::Perf, Taker::Perf), (Backend::Own, Taker::Own)] {
        let (recording, profile) =
            recorded(&[burn(), "threads", "20000000"], (backend, Scope::Cores), |options| {
                options.call_graph = CallGraph::Dwarf;
            });
        assert_eq!(recording.taker, taker);
        agrees(&recording, &profile);
        assert!(profile.share("burn_planted") > 0.9);
    }
}

#[test]
fn perf_reads_what_the_own_sampler_wrote() {
    if !can_sample() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path().join("own.data"));
    options.backend = Backend::Own;
    let recording = record(&words(&[burn(), "forks", "30000000", "3"]), &options).unwrap();
    let perf = |arguments: &[&str]| {
        let mut command = Command::new("perf");
        command.args(arguments).arg("-i").arg(&options.output);
        let output = command.output().expect("perf is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let samples = perf(&["script", "-F", "comm,pid,ip,sym"]);
    let planted = samples.matches(" burn_planted\n").count() as u64;
    assert!(planted * 10 > recording.samples * 7, "{planted} of {}", recording.samples);
    assert!(samples.matches(" calls_burn\n").count() as u64 >= planted);
    let report = perf(&["report", "--stdio", "--no-children", "-g", "none", "--percent-limit=20"]);
    assert!(report.contains("burn_planted"), "{report}");
    let header = perf(&["report", "--header-only"]);
    for part in [
        "# hostname : ",
        "# os release : ",
        "# cmdline : ",
        "name = cpu-clock",
        "# time of first sample",
    ] {
        assert!(header.contains(part), "{part} in {header}");
    }
    if recording.kernel == KernelSamples::Included && recording.warnings.is_empty() {
        assert!(perf(&["script", "--show-mmap-events"]).contains("[kernel.kallsyms]_"));
    }
}

#[test]
fn a_real_program_is_recorded_and_its_work_counted() {
    if !can_sample() {
        return;
    }
    for way in WAYS {
        let rule = Rule::lines(r"cpu +(\d+) +[\d.]+ +[\d.]+", Some("bogo ops")).unwrap();
        let counter = Counter::new(rule);
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            observer: Some(&counter),
            backend: way.0,
            scope: way.1,
            ..Options::new(folder.path().join("perf.data"))
        };
        let command =
            ["stress-ng", "--cpu", "2", "--cpu-ops", "40", "--cpu-method", "fft", "--metrics"];
        let recording = record(&words(&command), &options).unwrap();
        let work = counter.finish(recording.status).unwrap();
        assert_eq!((work.count.to_string().as_str(), work.unit.as_str()), ("40", "bogo ops"));
        let profile = Profile::read(&options.output);
        agrees(&recording, &profile);
        assert!(profile.forked.len() >= 2, "{way:?}");
    }
}

#[test]
fn units_are_counted_exactly() {
    if !can_sample() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let counter = Counter::new(Rule::lines(r"burnt (\S+) units", None).unwrap());
    let options =
        Options { observer: Some(&counter), ..Options::new(folder.path().join("p.data")) };
    let recording = record(&words(&[burn(), "threads", "1000"]), &options).unwrap();
    assert_eq!(counter.finish(recording.status).unwrap().count.to_string(), "3000.5");
}

#[test]
fn refusals_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("perf.data");
    fs::write(&output, "former").unwrap();
    let refused = |change: &dyn Fn(&mut Options<'_>), command: &[&str]| {
        let mut options = Options::new(&output);
        change(&mut options);
        let error = record(&words(command), &options).expect_err("it is refused");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{error}");
        assert_eq!(fs::read_to_string(&output).unwrap(), "former");
        error
    };
    for way in WAYS {
        let error =
            refused(&|options| (options.backend, options.scope) = way, &["/nowhere/at/all"]);
        assert!(matches!(error, SampleError::Start { .. }), "{error}");
    }
    let error = refused(&|_| {}, &[]);
    assert!(matches!(error, SampleError::NoProgram), "{error}");
    let error = refused(&|options| options.frequency = Hertz(0), &["true"]);
    assert!(matches!(error, SampleError::Frequency(_)), "{error}");
    let error =
        refused(&|options| options.cores = Some(vec![kilocore_sampled_profile::sampler::CpuId(1000)]), &["true"]);
    assert!(matches!(error, SampleError::Core { core: 1000, .. }), "{error}");
    let error =
        refused(&|options| options.output = folder.path().join("none/perf.data"), &["true"]);
    assert!(matches!(error, SampleError::Output { .. }), "{error}");
    let error = refused(&|options| options.output = folder.path().to_owned(), &["true"]);
    assert!(matches!(error, SampleError::Output { .. }), "{error}");
}
