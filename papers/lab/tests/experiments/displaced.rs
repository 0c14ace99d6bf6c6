//! Where a compiler puts stack frames and where memory lies changes no figure.
//!
//! Each simulation is run again with its heap and its frames displaced, and has to come to the same
//! figures to the last digit.

mod locks;

use std::sync::{Mutex, PoisonError};

use kilocore_lab::{ldu, lru, numa, numa_programs, sched};
use kilocore_page_trace::simulated as pages;
use kilocore_placement::{PageSize, Rule, Setting as Placement};
use kilocore_points::PointSource;
use kilocore_sched_policy::{LockAwareOptions, PolicyName};
use kilocore_sim::displace_memory;

/// By which bytes memory is displaced: within a line, and by some lines, one or more times.
const DISPLACEMENTS: [usize; 4] = [16, 40, 200, 1_008];

/// One test at a time: all simulations of the program are displaced.
static ALONE: Mutex<()> = Mutex::new(());

fn assert_same_wherever_it_lies(name: &str, figures: impl Fn() -> String) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = figures();
    for bytes in DISPLACEMENTS {
        displace_memory(bytes);
        let displaced = figures();
        displace_memory(0);
        assert_eq!(found, displaced, "{name}, displaced by {bytes} bytes");
    }
}

#[test]
fn deferred_updates() {
    let length = ldu::RunLength {
        forks_per_core: 3,
        forks: 30,
        warm_us: 3_000.0,
        counted_us: 0.0,
        warm_forks: 60,
        seed: 1,
    };
    let machine = kilocore_machine::find("xeon-e7-8870v2-8s").expect("it is built in");
    let setting = ldu::Setting::of(ldu::Workload::Aim7);
    for &scheme in ldu::SchemeId::ALL {
        assert_same_wherever_it_lies(scheme.name(), || {
            let point = ldu::simulate(&setting, scheme, &machine, 15, 90.0, length);
            format!("{:?}", point.expect("the machine has 15 cores"))
        });
    }
}

#[test]
fn lists_of_pages() {
    let machine = kilocore_machine::find("knl-7210").expect("it is built in");
    let setting = lru::Setting::of(&machine);
    for variant in lru::Variant::ALL {
        assert_same_wherever_it_lies(variant.name(), || {
            let job = lru::Job {
                setting: &setting,
                variant,
                factor: if variant == lru::Variant::Stock { 1 } else { 8 },
                pattern: lru::Pattern::SeqWrite,
                folios: lru::Folios::PAGES,
                threads: 24,
                length: lru::RunLength { warm_pages: 30, pages: 60, least: 0, seed: 1 },
            };
            let points = lru::sweep(PointSource::unkept(), &[job], &machine, &|| ());
            format!("{:?}", points.expect("the machine has 24 threads"))
        });
    }
}

#[test]
fn page_pools() {
    let machine = kilocore_machine::find("xeon-gold-6338-1s").expect("it is built in");
    let setting = pages::Setting::of(&machine);
    for policy in pages::Policy::ALL {
        assert_same_wherever_it_lies(policy.name(), || {
            let job = pages::Job {
                setting: &setting,
                policy,
                load: pages::Load::Pattern(pages::Pattern::Pass),
                cores: 8,
                length: pages::RunLength { warm_pages: 100, pages: 100, seed: 1 },
            };
            let points = pages::sweep(PointSource::unkept(), &[job], &machine, &|| ());
            format!("{:?}", points.expect("the machine has 8 threads"))
        });
    }
}

#[test]
fn copies_on_nodes() {
    let setting = Placement::published(8, PageSize::of(4096).expect("a power of two"));
    for program in numa_programs::Program::ALL {
        assert_same_wherever_it_lies(program.name(), || {
            let load = numa::Load::Program(program, numa_programs::Size::Small);
            let job = numa::Job { setting: &setting, load, rule: Rule::Adjustable, delay: 100 };
            format!("{:?}", numa::simulate(&job).expect("there are 8 processors"))
        });
    }
}

#[test]
fn schedulers() {
    use sched::locks::{Job, KernelLock, MMAPBENCH, RunLength, simulate};
    let machine = kilocore_machine::find("opteron-8356-8s").expect("it is built in");
    for lock in KernelLock::ALL {
        for policy in [PolicyName::Fair, PolicyName::LockAware] {
            assert_same_wherever_it_lies(&format!("{lock:?} {policy:?}"), || {
                let job = Job {
                    load: MMAPBENCH,
                    lock,
                    policy,
                    lock_aware: LockAwareOptions::default(),
                    cores: 12,
                    noise: 0,
                    length: RunLength { windows: 4, ..RunLength::default() },
                };
                format!("{:?}", simulate(&job, &machine).expect("the machine has 12 cores"))
            });
        }
    }
}
