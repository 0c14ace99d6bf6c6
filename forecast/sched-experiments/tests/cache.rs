//! Mixes under policies.

use kilocore_occupancy::Hardware;
use kilocore_platform::Nanos;
use kilocore_sched_experiments::cache::{Contender, Mix, Setting, judge, mixes, points};

fn short() -> Setting {
    Setting { duration: Nanos(2_000_000_000), orders: 1, ..Setting::of_the_thesis() }
}

#[test]
#[ignore]
fn look() {
    let setting =
        Setting { duration: Nanos(20_000_000_000), orders: 3, ..Setting::of_the_thesis() };
    let t = std::time::Instant::now();
    let all = points(&setting, &mixes(), &Contender::ALL, &|| {}).unwrap();
    for p in &all {
        println!(
            "{:14} {:22} thr {:.3} x{:.4} jain {:.4} worst {:.3} J {:.0} shares {:.2}..{:.2}",
            p.mix,
            p.policy.to_string(),
            p.throughput,
            p.beside_fair,
            p.fairness,
            p.worst_beside_fair,
            p.joules,
            p.tasks.iter().map(|t| t.share).fold(9.0, f64::min),
            p.tasks.iter().map(|t| t.share).fold(0.0, f64::max)
        );
    }
    println!("{:?}", t.elapsed());
}

#[test]
fn every_mix_fills_the_machine_twice() {
    let all = mixes();
    assert_eq!(all.len(), 9);
    assert!(all.iter().all(|mix| mix.programs.len() == 16));
    let error = Mix::named("heavi").unwrap_err().to_string();
    assert!(error.contains("heavy-light"), "{error}");
}
