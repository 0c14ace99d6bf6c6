use kilocore_experiments::ldu::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let w: Workload = a[1].parse().unwrap();
    let m = kilocore_machine::find("xeon-e7-8870v2-8s").unwrap();
    let u: f64 = a[4].parse().unwrap();
    for s in a[2].split(',') {
        for c in a[3].split(',') {
            let t = std::time::Instant::now();
            let p = simulate(
                &Setting::of(w),
                s.parse().unwrap(),
                &m,
                c.parse().unwrap(),
                u,
                RunLength::default(),
            )
            .unwrap();
            println!(
                "{:14} {:4} u{:5.1} {:10.0}/s user {:.2} sys {:.2} idle {:.2}   {:.1?}",
                p.scheme,
                p.cores,
                p.updates_percent,
                p.throughput_per_s,
                p.user,
                p.sys,
                p.idle,
                t.elapsed()
            );
        }
    }
}
