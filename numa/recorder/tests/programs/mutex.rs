//! Threads that take one mutex of Rust's so many times each, and add to four lines of data under it. Prints
//! the mutex's address.

use std::sync::Mutex;
use std::thread::{scope, yield_now};

#[repr(align(64))]
struct Line(u64);

#[repr(align(64))]
struct Data([Line; 4]);

#[repr(align(64))]
struct Apart(Mutex<Data>);

fn main() {
    let data = Apart(Mutex::new(Data([Line(0), Line(0), Line(0), Line(0)])));
    scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let mut data = data.0.lock().expect("nobody panics");
                    data.0.iter_mut().for_each(|line| line.0 += 1);
                    drop(data);
                    yield_now();
                }
            });
        }
    });
    println!("{}", (&raw const data).addr());
    assert!(data.0.lock().expect("nobody panics").0.iter().all(|line| line.0 == 6_000));
}
