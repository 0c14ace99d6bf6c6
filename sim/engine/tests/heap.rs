//! Simulations of code that allocates, with the allocator that makes them the same every time.

use std::sync::{Arc, Mutex, PoisonError};

use kilocore_machine::Description;
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Platform};
use kilocore_sim::{Options, Outcome, Random, Sim, SimHeap, SimU32, Simulation};

#[global_allocator]
static HEAP: SimHeap = SimHeap;

/// One test at a time: there are only so many regions.
static ALONE: Mutex<()> = Mutex::new(());

macro_rules! alone {
    () => {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    };
}

fn machine() -> Description {
    kilocore_machine::find("xeon-e7-8870v2-8s").expect("it is built in")
}

fn simulation(seed: u64) -> Simulation {
    Simulation::new(&machine(), Options { cores: 8, seed }).expect("it has 8 cores")
}

/// Tasks that put words of their own among those of the others, use some of all, and free them.
fn tasks_that_allocate(seed: u64) -> Outcome {
    let mut simulation = simulation(seed);
    let shelf: Arc<Vec<SimU32>> = Arc::new((0..64).map(|_| SimU32::new(0)).collect());
    for task in 0..8 {
        let shelf = Arc::clone(&shelf);
        let body = move || {
            let mut random = Random::new(seed, task);
            let mut own: Vec<Box<[SimU32]>> = Vec::new();
            for _ in 0..300 {
                let length = 1 + (random.uniform() * 40.0) as usize;
                own.push((0..length).map(|_| SimU32::new(0)).collect());
                let pick = (random.uniform() * own.len() as f64) as usize;
                own[pick][0].fetch_add(1, Ordering::Relaxed);
                shelf[(random.uniform() * 64.0) as usize].fetch_add(1, Ordering::Relaxed);
                if own.len() > 20 {
                    let gone = own.swap_remove(pick);
                    // As whoever frees simulated memory tells the simulator.
                    gone.iter().for_each(|word| Sim::discard(word));
                }
                Sim::work(Cycles(50));
            }
            own.iter().flatten().for_each(|word| Sim::discard(word));
        };
        simulation.spawn(body).expect("there is memory for it");
    }
    simulation.run().expect("nobody waits")
}

/// Moves the host's heap about.
fn disturb(seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed, 99);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for _ in 0..2_000 {
        kept.push(vec![1; 1 + (random.uniform() * 500.0) as usize]);
        if random.uniform() < 0.5 {
            let pick = (random.uniform() * kept.len() as f64) as usize;
            kept.swap_remove(pick);
        }
    }
    kept
}

#[test]
fn what_the_process_did_before_does_not_matter() {
    alone!();
    let first = format!("{:?}", tasks_that_allocate(7));
    for seed in 0..4 {
        let kept = disturb(seed);
        assert_eq!(first, format!("{:?}", tasks_that_allocate(7)));
        let elsewhere = std::thread::spawn(move || {
            let _kept = disturb(seed + 10);
            format!("{:?}", tasks_that_allocate(7))
        });
        assert_eq!(first, elsewhere.join().expect("it does not panic"));
        drop(kept);
    }
    assert_ne!(first, format!("{:?}", tasks_that_allocate(8)), "the seed does");
}

#[test]
fn what_outlives_a_simulation_keeps_its_contents() {
    alone!();
    let mut kept = Vec::new();
    // More than there are regions.
    for round in 0..300_u32 {
        let open = simulation(1);
        let mut text = format!("{round:0>300}");
        text.push_str("grown");
        kept.push((round, text, vec![0_u64; 100]));
        drop(open);
    }
    let elsewhere = std::thread::spawn(move || {
        for (round, text, zeroes) in kept {
            assert_eq!(text, format!("{round:0>300}grown"));
            assert!(zeroes.iter().all(|&zero| zero == 0));
        }
    });
    elsewhere.join().expect("all is as it was");
    let first = format!("{:?}", tasks_that_allocate(7));
    assert_eq!(first, format!("{:?}", tasks_that_allocate(7)), "there are regions again");
}

#[test]
fn what_is_larger_than_a_region_comes_from_the_system() {
    alone!();
    let _open = simulation(1);
    let mut large: Vec<u8> = Vec::new();
    if large.try_reserve(5 << 30).is_err() {
        return eprintln!("this host does not give out so much");
    }
    large.extend_from_slice(b"beginning");
    large.shrink_to_fit();
    assert_eq!(large, b"beginning");
    let mut grown = vec![7_u8; 1 << 20];
    grown.reserve(5 << 30);
    assert!(grown.iter().all(|&byte| byte == 7), "moved with what was in it");
}

#[test]
fn simulations_that_are_set_up_together_have_heaps_of_their_own() {
    alone!();
    // Regions begin at multiples of their size.
    let region = |of: *const SimU32| of.addr() >> 32;
    let address = |open: &[Simulation]| region(&*Box::new(SimU32::new(open.len() as u32)));
    let mut open = vec![simulation(1)];
    let first = address(&open);
    open.push(simulation(1));
    assert_ne!(address(&open), first, "another region");
    // The first one ends before the second, whose region is still the one in use.
    drop(open.remove(0));
    assert_ne!(address(&open), first);
    drop(open);
    assert_ne!(address(&[]), first, "the system's, wherever it is");
}

#[test]
fn allocations_share_no_line_and_get_what_was_freed_last() {
    alone!();
    let _open = simulation(1);
    let lines = |from: *const u8, bytes: usize| from.addr() / 64..=(from.addr() + bytes - 1) / 64;
    let small: Vec<Box<[u8]>> = (1..700).map(|bytes| vec![1; bytes].into()).collect();
    let mut taken = std::collections::BTreeSet::new();
    for block in &small {
        assert!(block.as_ptr().addr().is_multiple_of(64));
        assert!(lines(block.as_ptr(), block.len()).all(|line| taken.insert(line)), "shared");
    }
    #[repr(align(4096))]
    struct Page([u8; 5000]);
    let pages: Vec<Box<Page>> = (0..5).map(|fill| Box::new(Page([fill; 5000]))).collect();
    for page in &pages {
        assert!(page.0.as_ptr().addr().is_multiple_of(4096));
        assert!(lines(page.0.as_ptr(), 5000).all(|line| taken.insert(line)), "shared");
    }
    assert!(pages.iter().zip(0..).all(|(page, fill)| page.0 == [fill; 5000]));

    let [first, second] = [Box::new(1_u64), Box::new(2_u64)];
    let addresses = [&raw const *first, &raw const *second].map(|address| address.addr());
    drop(first);
    drop(second);
    // A block of another size in between changes nothing.
    drop(vec![0_u8; 3_000]);
    let [third, fourth] = [Box::new(3_u64), Box::new(4_u64)];
    assert_eq!([&raw const *fourth, &raw const *third].map(|address| address.addr()), addresses);
}

#[test]
fn blocks_that_grow_and_shrink_keep_their_contents() {
    alone!();
    let _open = simulation(1);
    let mut random = Random::new(3, 3);
    let mut blocks: Vec<Vec<u32>> = (0..20).map(|_| Vec::new()).collect();
    for step in 0..5_000 {
        let index = (random.uniform() * 20.0) as usize;
        let block = &mut blocks[index];
        let grown = (random.uniform() * 400.0) as usize;
        block.extend((block.len()..block.len() + grown).map(|at| (index * 1_000_000 + at) as u32));
        if step % 3 == 0 {
            block.truncate((random.uniform() * block.len() as f64) as usize);
            block.shrink_to_fit();
        }
        let whole = blocks.iter().enumerate().all(|(index, block)| {
            block.iter().enumerate().all(|(at, &value)| value as usize == index * 1_000_000 + at)
        });
        assert!(step % 50 != 0 || whole);
    }
}
