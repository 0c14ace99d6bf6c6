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
    let orders = std::env::var("ORDERS").map_or(1, |n| n.parse().unwrap());
    let seconds: u64 = std::env::var("SECONDS_").map_or(2, |n| n.parse().unwrap());
    let names = std::env::var("MIXES").unwrap_or("heavy,light".to_owned());
    let who = std::env::var("WHO").unwrap_or("fair".to_owned());
    let setting = Setting { duration: Nanos(seconds * 1_000_000_000), orders, ..Setting::of_the_thesis() };
    let who: Vec<Contender> = if who == "all" { Contender::ALL.to_vec() } else { who.split(',').map(|w| w.parse().unwrap()).collect() };
    for mix in mixes().into_iter().filter(|m| names == "all" || names.split(',').any(|n| n == m.name)) {
    let t = std::time::Instant::now();
    let all = points(&setting, &[mix], &who, &|| {}).unwrap();
    for p in &all {
        println!("{:14} {:22} thr {:.3} x{:.4} jain {:.4} worst {:.3} J {:.0} shares {:.2}..{:.2}", p.mix, p.policy.to_string(), p.throughput, p.beside_fair, p.fairness, p.worst_beside_fair, p.joules,
          p.tasks.iter().map(|t| t.share).fold(9.0, f64::min), p.tasks.iter().map(|t| t.share).fold(0.0, f64::max));
    }
    println!("{:?}", t.elapsed());
    }
}

#[test]
fn every_mix_fills_the_machine_twice() {
    let all = mixes();
    assert_eq!(all.len(), 9);
    assert!(all.iter().all(|mix| mix.programs.len() == 16));
    let error = Mix::named("heavi").unwrap_err().to_string();
    assert!(error.contains("heavy-light"), "{error}");
}
