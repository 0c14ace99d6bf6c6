use kilocore_numa_programs::{Program, Size};
use kilocore_placement::*;
use kilocore_platform::Cycles;

#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let start = std::time::Instant::now();
    let delays: Vec<u32> = if args[1] == "bal" {
        vec![50, 100, 200, 1000]
    } else {
        vec![1, 10, 100, 300, 1000, 3000, 5000, 10000, 100000, 1000000]
    };
    for name in args[0].split(',') {
        let program: Program = name.parse().unwrap();
        for policy in args[1].split(',') {
            let points: Vec<_> = delays.iter().copied().collect();
            let results: Vec<kilocore_published::numa::Outcome> = points
                .iter()
                .map(|&delay| {
                    let mut adj = AdjustableOptions::new(delay);
                    if policy == "adjcyc" {
                        adj.unit = CopyCost::Cycles;
                    }
                    if policy == "adjdrop" {
                        adj.drops = true;
                    }
                    if let (true, Some(p)) = (args[1] != "bal", args.get(2)) {
                        adj.period = Cycles(p.parse().unwrap());
                    }
                    let p: Box<dyn Policy> = match policy {
                        "fixed" => Box::new(FixedDelay { delay }),
                        "update" => Box::new(WithUpdates { delay, budget: 1000 }),
                        "bal" => Box::new(Balanced::new(BalancedOptions {
                            least_share: f64::from(delay) / 1000.0,
                            patience: args[2].parse().unwrap(),
                            learning: args.get(3).map_or(1.0 / 64.0, |r| r.parse().unwrap()),
                        })),
                        _ => Box::new(Adjustable::new(adj)),
                    };
                    kilocore_published::numa::run(
                        program,
                        Size::Published,
                        Options::lee_and_cho(32),
                        PageSize::SMALL,
                        p,
                        delay == 1000,
                    )
                })
                .collect();
            print!("{name:10}{policy:8}");
            for (outcome, _) in results.iter().zip(&delays) {
                print!(" {:7.3}", outcome.account.namc(Cycles(5)).unwrap());
            }
            println!(
                "  opt {:?} {:.1}s",
                results.iter().find_map(|o| o
                    .optimum
                    .map(|c| c.0 as f64 / 5.0 / o.account.references() as f64)),
                start.elapsed().as_secs_f64()
            );
            if args.get(3).is_some() {
                for o in &results {
                    println!("   {:?} end {:?}", o.account, o.end);
                }
            }
        }
    }
}
