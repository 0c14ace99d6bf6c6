//! Threads that share a `std::sync::Mutex`.

use std::sync::Mutex;

static SHARED: Mutex<u64> = Mutex::new(1);

fn compute(mut value: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    value
}

fn main() {
    let words: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let [threads, sections, hold, think] = words[..] else { panic!("THREADS SECTIONS HOLD THINK") };
    let work = move |mut own: u64| {
        for _ in 0..sections / threads {
            own = compute(own, think);
            let mut shared = SHARED.lock().unwrap();
            *shared = compute(*shared + (own & 1), hold);
        }
    };
    let all: Vec<_> = (1..=threads).map(|own| std::thread::spawn(move || work(own))).collect();
    all.into_iter().for_each(|each| each.join().unwrap());
    println!("{:x}", *SHARED.lock().unwrap());
}
