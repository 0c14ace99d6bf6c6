//! Speed of the memory: references per second on one core of the host, one at a time.
//!
//! The bar is 5 million.

use std::hint::black_box;
use std::time::Instant;

use kilocore_placement::{
    Adjustable, AdjustableOptions, Balanced, BalancedOptions, Burst, Carrefour, CarrefourOptions,
    FixedDelay, LinuxBalancing, Memory, Never, Options, Page, Policy, Processor, TlbOptions,
};
use kilocore_platform::Cycles;
use kilocore_sim::Random;

const REFERENCES: u32 = 5_000_000;
const PROCESSORS: u32 = 32;
const ROUNDS: usize = 5;

fn main() {
    println!("{:<44}{:>22}", "policy", "million/s (min–max)");
    let period = Cycles(1_000_000);
    report("never", || Box::new(Never), |_| {});
    report("fixed 1000", || Box::new(FixedDelay { delay: 1000 }), |_| {});
    let adjustable = || {
        let policy = Adjustable::new(AdjustableOptions::new(1000));
        Box::new(policy) as Box<dyn Policy>
    };
    report("adjustable 1000", adjustable, |_| {});
    report("adjustable 1000, translation buffers", adjustable, |options| {
        options.tlb = Some(TlbOptions::LEE_AND_CHO);
    });
    report("linux", move || Box::new(LinuxBalancing::new(period, 65_536)), |_| {});
    report("carrefour", move || Box::new(Carrefour::new(CarrefourOptions::new(period))), |_| {});
    report("balanced", || Box::new(Balanced::new(BalancedOptions::default())), |_| {});
}

/// Half of the references are private, and one of six of the others is a write.
fn report(name: &str, policy: impl Fn() -> Box<dyn Policy>, change: impl Fn(&mut Options)) {
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut options = Options::lee_and_cho(PROCESSORS);
            change(&mut options);
            let mut memory = Memory::new(options, policy()).expect("sensible");
            let mut chance = Random::new(1, 1);
            let mut clocks = [Cycles(0); PROCESSORS as usize];
            let start = Instant::now();
            for index in 0..REFERENCES {
                let processor = Processor(index % PROCESSORS);
                let bits = chance.bits();
                let private = bits & 1 == 0;
                let page = if private { processor.0 } else { 32 + (bits >> 8) as u32 % 700 };
                let burst = if (bits >> 40).is_multiple_of(6) { Burst::WRITE } else { Burst::READ };
                let clock = &mut clocks[processor.index()];
                *clock += memory.refer(*clock, processor, Page(page), burst);
            }
            let seconds = start.elapsed().as_secs_f64();
            black_box(memory.account());
            f64::from(REFERENCES) / seconds / 1e6
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let (low, middle, high) = (rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]);
    println!("{name:<44}{middle:>10.1} ({low:.1}–{high:.1})");
}
