//! Blocks of lines: where they are found, in which order the levels come, and that single accesses
//! agree with them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kilocore_machine::Description;
use kilocore_platform::{Atomic, Cycles, NodeId, Ordering, Padded, Platform};
use kilocore_sim::{Found, Options, Outcome, Sim, SimBlock, SimRegion, Simulation, Touch};

const PAGE: usize = 4096;
const LINES: u32 = 64;
/// The sizes of the i7-6700's caches.
const OWN_PAGES: usize = 64;
const SHARED_PAGES: usize = 2048;

fn machine(name: &str) -> Description {
    kilocore_machine::find(name).unwrap()
}

/// Runs `body` on each of some cores with a region of so many pages.
fn simulate(
    machine: &Description,
    cores: u32,
    pages: usize,
    body: impl Fn(u32, SimRegion) + Clone + 'static,
) -> Outcome {
    let mut simulation = Simulation::new(machine, Options { cores, seed: 1 }).unwrap();
    let region = simulation.add_region(pages * PAGE, NodeId(0));
    for core in 0..cores {
        let body = body.clone();
        simulation.spawn(move || body(core, region)).unwrap();
    }
    simulation.run().unwrap()
}

fn page(region: SimRegion, index: usize) -> SimBlock {
    region.block(index, PAGE)
}

/// What a page costs and where its lines were, on average over a round after two others, if `core`
/// alone initializes so many pages in turn.
fn round_robin(machine: &Description, pages: usize) -> (f64, Found) {
    let result = Rc::new(Cell::new((0.0, Found::default())));
    let seen = Rc::clone(&result);
    simulate(machine, 1, pages, move |_, region| {
        let round = || (0..pages).map(|index| Sim::initialize(page(region, index))).sum();
        let _: Found = round();
        let _: Found = round();
        let start = Sim::now();
        let found = round();
        seen.set(((Sim::now() - start).0 as f64 / pages as f64, found));
    });
    result.get()
}

fn at(found: &Found) -> &'static str {
    let lines = found.lines();
    match () {
        () if found.own == lines => "own",
        () if found.shared == lines => "shared",
        () if found.other_core == lines => "other core",
        () if found.memory == lines => "memory",
        () => "mixed",
    }
}

#[test]
fn pages_in_turn_are_in_the_cache_that_has_room_for_all() {
    let machine = machine("core-i7-6700");
    let expected = [
        (16, "own"),
        (OWN_PAGES, "own"),
        (OWN_PAGES * 2, "shared"),
        (512, "shared"),
        (SHARED_PAGES, "shared"),
        (SHARED_PAGES * 2, "memory"),
        (8192, "memory"),
    ];
    let mut costs = std::collections::BTreeMap::new();
    for (pages, level) in expected {
        let (cost, found) = round_robin(&machine, pages);
        assert_eq!(found.lines(), pages as u32 * LINES);
        assert_eq!(at(&found), level, "{pages} pages: {found:?}");
        costs.entry(level).or_insert_with(Vec::new).push(cost);
    }
    // A level costs the same whatever the number of pages, and what is farther costs more. The
    // table in the documentation of blocks has these figures.
    for (level, expected) in [("own", 192.0), ("shared", 395.0), ("memory", 1285.0)] {
        for cost in &costs[level] {
            assert!((cost - expected).abs() < 2.0, "{level}: {:?}", costs[level]);
        }
    }
}

/// What core 1 finds and pays if it initializes or reads a page that core 0 has initialized.
fn after_another_core(name: &str, cores: u32, how: Touch) -> (Cycles, Found) {
    let result = Rc::new(Cell::new((Cycles(0), Found::default())));
    let seen = Rc::clone(&result);
    simulate(&machine(name), cores, 1, move |core, region| {
        if core == 0 {
            Sim::initialize(page(region, 0));
        } else if core + 1 == cores {
            Sim::work(Cycles(100_000));
            let start = Sim::now();
            let found = Sim::touch(page(region, 0), how);
            seen.set((Sim::now() - start, found));
        }
    });
    result.get()
}

#[test]
fn what_another_core_wrote_comes_from_its_cache_and_costs_more_than_the_shared_one() {
    for how in [Touch::WRITE, Touch::READ] {
        let (cost, found) = after_another_core("core-i7-6700", 2, how);
        assert_eq!(found, Found { other_core: LINES, ..Found::default() });
        // 21 ns for each, of which twelve overlap, is more than the store and less than memory.
        assert!(cost > Cycles(375) && cost < Cycles(390), "{cost:?}");
    }
}

#[test]
fn another_cores_pages_cost_more_than_the_last_levels_and_less_than_memorys() {
    // Core 1 has its own cache full of what it wrote, as in the round robins. So it has to send as
    // many lines away as come.
    let cost = Rc::new(Cell::new(0.0));
    let seen = Rc::clone(&cost);
    simulate(&machine("core-i7-6700"), 2, 1024, move |core, region| {
        if core == 0 {
            let _: Found = (0..32).map(|index| Sim::initialize(page(region, index))).sum();
            return;
        }
        let _: Found = (64..128).map(|index| Sim::initialize(page(region, index))).sum();
        Sim::work(Cycles(1_000_000));
        let start = Sim::now();
        let found: Found = (0..32).map(|index| Sim::initialize(page(region, index))).sum();
        assert_eq!(at(&found), "other core", "{found:?}");
        seen.set((Sim::now() - start).0 as f64 / 32.0);
    });
    // The table in the documentation of blocks has this figure, between 395 and 1,285.
    assert!((cost.get() - 576.0).abs() < 2.0, "{}", cost.get());
}

#[test]
fn what_another_node_has_is_counted_apart() {
    // The last core is of another socket.
    let (near, _) = after_another_core("opteron-6344-4s", 2, Touch::WRITE);
    let (far, found) = after_another_core("opteron-6344-4s", 48, Touch::WRITE);
    let remote = Found { other_core: LINES, other_node_core: LINES, ..Found::default() };
    assert_eq!(found, remote);
    assert!(far > near, "{far:?} {near:?}");

    let found = Rc::new(Cell::new([Found::default(); 2]));
    let seen = Rc::clone(&found);
    simulate(&machine("opteron-6344-4s"), 48, 2, move |core, region| {
        if core == 0 || core == 47 {
            let mut both = seen.get();
            both[usize::from(core == 47)] = Sim::initialize(page(region, usize::from(core == 47)));
            seen.set(both);
        }
    });
    let [near, far] = found.get();
    assert_eq!(near, Found { memory: LINES, ..Found::default() });
    assert_eq!(far, Found { memory: LINES, other_node_memory: LINES, ..Found::default() });
}

#[test]
fn readers_share_a_page_and_a_writer_takes_it_from_them() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&log);
    simulate(&machine("core-i7-6700"), 3, 1, move |core, region| {
        let page = page(region, 0);
        let step = |time: u64, how: Touch| {
            Sim::work(Cycles(time) - Sim::now());
            let found = Sim::touch(page, how);
            seen.borrow_mut().push((core, at(&found)));
        };
        match core {
            0 => {
                step(10_000, Touch::WRITE);
                step(50_000, Touch::READ);
                step(60_000, Touch::WRITE);
            }
            1 => {
                step(20_000, Touch::READ);
                step(40_000, Touch::READ);
                step(70_000, Touch::READ);
            }
            _ => step(30_000, Touch::READ),
        }
    });
    let expected = [
        (0, "memory"),
        (1, "other core"),
        (2, "shared"),
        (1, "own"),
        (0, "own"),
        (0, "own"),
        (1, "other core"),
    ];
    assert_eq!(*log.borrow(), expected);
}

#[test]
fn single_accesses_see_what_blocks_did_and_blocks_what_they_did() {
    let times = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&times);
    simulate(&machine("core-i7-6700"), 2, 1, move |core, region| {
        let page = page(region, 0);
        if core == 0 {
            Sim::initialize(page);
            Sim::read(page.at(640));
            return;
        }
        Sim::work(Cycles(100_000));
        let timed = |step: &dyn Fn()| {
            let start = Sim::now();
            step();
            seen.borrow_mut().push((Sim::now() - start).0);
        };
        timed(&|| Sim::read(page.at(640)));
        timed(&|| Sim::read(page.at(648)));
        timed(&|| Sim::read(page.at(704)));
        let found = Sim::look(page);
        assert_eq!(found, Found { own: 2, other_core: LINES - 2, ..Found::default() });
        // Looking changes nothing.
        assert_eq!(Sim::touch(page, Touch::READ), found);
        Sim::write(page.at(0));
        assert_eq!(Sim::look(page), Found { own: LINES, ..Found::default() });
    });
    // A transfer of 21 ns at 3.4 GHz and a hit, a hit, and a transfer once more; each passes the
    // directory as single accesses do.
    assert_eq!(*times.borrow(), [71 + 4, 4, 71 + 4]);
}

#[test]
fn objects_of_the_host_are_blocks_too_and_watchers_of_their_words_wake_up() {
    type Word = Padded<<Sim as Platform>::U64>;
    let mut simulation =
        Simulation::new(&machine("core-i7-6700"), Options { cores: 2, seed: 1 }).unwrap();
    let words: Rc<[Word]> = (0..8).map(|_| Padded(<Sim as Platform>::U64::new(0))).collect();
    let (writer, waiter) = (Rc::clone(&words), words);
    simulation
        .spawn(move || {
            Sim::work(Cycles(10_000));
            let found = Sim::initialize(SimBlock::of(&*writer));
            assert_eq!(found.lines() as usize, size_of_val(&*writer) / 64);
            // The waiter has read one of them.
            assert_eq!(found.other_core + found.shared, 1);
        })
        .unwrap();
    simulation
        .spawn(move || {
            let mut looks = 0;
            Sim::watch_for(&waiter[3].0, Cycles(50_000), |_| {
                looks += 1;
                looks == 2
            });
            let woken = Sim::now();
            assert!(woken > Cycles(10_000) && woken < Cycles(12_000), "{woken:?}");
            assert_eq!(waiter[3].0.load(Ordering::Relaxed), 0);
        })
        .unwrap();
    simulation.run().unwrap();
}

#[test]
fn a_page_used_again_outlasts_pages_that_were_not() {
    // One page is used after each of the others. It stays, though more pages than fit pass by.
    simulate(&machine("core-i7-6700"), 1, 1000, |_, region| {
        for index in 1..1000 {
            Sim::initialize(page(region, index));
            let found = Sim::touch(page(region, 0), Touch::READ);
            assert!(index == 1 || found.own == LINES, "{index}: {found:?}");
        }
    });
}

#[test]
fn a_page_that_leaves_a_core_is_in_the_last_level_and_one_that_leaves_that_is_gone() {
    simulate(&machine("core-i7-6700"), 1, 4000, |_, region| {
        let look = |index| at(&Sim::look(page(region, index)));
        for index in 0..OWN_PAGES {
            Sim::initialize(page(region, index));
        }
        assert_eq!((look(0), look(OWN_PAGES - 1)), ("own", "own"));
        for index in OWN_PAGES..SHARED_PAGES {
            Sim::initialize(page(region, index));
        }
        assert_eq!((look(0), look(SHARED_PAGES - 1)), ("shared", "own"));
        Sim::initialize(page(region, SHARED_PAGES));
        assert_eq!((look(0), look(1)), ("memory", "shared"));
    });
}

/// After core 0 has initialized one page and core 1 many, where core 0 sees its page.
fn own_page_after_others_streamed(machine: &Description) -> &'static str {
    let seen = Rc::new(Cell::new(""));
    let where_ = Rc::clone(&seen);
    simulate(machine, 2, 20_000, move |core, region| {
        if core == 1 {
            Sim::work(Cycles(10_000));
            for index in 1..20_000 {
                Sim::initialize(page(region, index));
            }
            return;
        }
        Sim::initialize(page(region, 0));
        Sim::work(Cycles(1_000_000_000));
        where_.set(at(&Sim::look(page(region, 0))));
    });
    seen.get()
}

#[test]
fn what_leaves_an_inclusive_cache_leaves_the_cores_and_from_another_it_does_not() {
    let mut machine = machine("core-i7-6700");
    assert_eq!(own_page_after_others_streamed(&machine), "memory");
    machine.caches.shared_holds_private.as_mut().unwrap().value = 0.0;
    assert_eq!(own_page_after_others_streamed(&machine), "own");
}

#[test]
fn a_last_level_that_takes_what_leaves_the_cores_adds_to_them() {
    let mut machine = machine("core-i7-6700");
    machine.caches.shared_holds_private.as_mut().unwrap().value = 0.0;
    simulate(&machine, 1, 4000, |_, region| {
        let look = |index| at(&Sim::look(page(region, index)));
        for index in 0..SHARED_PAGES + OWN_PAGES {
            Sim::initialize(page(region, index));
        }
        assert_eq!(
            (look(0), look(SHARED_PAGES - 1), look(SHARED_PAGES)),
            ("shared", "shared", "own")
        );
        Sim::initialize(page(region, SHARED_PAGES + OWN_PAGES));
        // Its lines pushed one page out of the core and another one out of the last level.
        assert_eq!((look(SHARED_PAGES), look(0)), ("shared", "memory"));
        Sim::touch(page(region, 1), Touch::READ);
        assert_eq!(look(1), "own");
    });
    let (_, found) = round_robin(&machine, 2 * SHARED_PAGES);
    assert_eq!(at(&found), "memory", "{found:?}");
}

#[test]
fn cores_that_stream_beyond_the_caches_share_the_memorys_bandwidth() {
    let machine = machine("core-i7-6700");
    // Cycles of a page while so many cores initialize pages that are in no cache.
    let cost = |cores: u32, how: Touch| {
        let pages = 8192 / cores as usize;
        let outcome = simulate(&machine, cores, 8192, move |core, region| {
            for _ in 0..2 {
                for index in 0..pages {
                    Sim::touch(page(region, core as usize * pages + index), how);
                }
            }
        });
        outcome.end.0 as f64 / (2 * pages) as f64
    };
    // A line takes 64 bytes / 27 GB/s = 8.06 cycles on the channels. A core reads a line in 17
    // cycles, so four cores need twice of what there is. A core writes a line in 20 cycles, and the
    // line goes back as well, so two cores need more than there is.
    let page_on_channels = 64.0 * 64.0 / 27.0 * 3.4;
    let (one, two, four) = (cost(1, Touch::READ), cost(2, Touch::READ), cost(4, Touch::READ));
    assert!((one - 1088.0).abs() < 5.0 && (two / one - 1.0).abs() < 0.01, "{one} {two}");
    assert!((four / (4.0 * page_on_channels) - 1.0).abs() < 0.01, "{four}");
    let (one, two, four) = (cost(1, Touch::WRITE), cost(2, Touch::WRITE), cost(4, Touch::WRITE));
    assert!((one - 1285.0).abs() < 30.0, "{one}");
    for (cores, cost) in [(2.0, two), (4.0, four)] {
        // The first pages push nothing out that was written.
        let most = cores * 2.0 * page_on_channels;
        assert!(cost > 0.85 * most && cost < 1.01 * most, "{cores} cores: {cost} {most}");
    }
}

#[test]
fn large_blocks_and_steps_touch_the_lines_that_they_say() {
    simulate(&machine("core-i7-6700"), 1, 2048, |_, region| {
        let large = region.block(1, 2 << 20);
        assert_eq!(Sim::initialize(large).lines(), 32_768);
        let some = Sim::touch(region.block(0, 2 << 20), Touch::READ.every(64));
        assert_eq!(some, Found { memory: 512, ..Found::default() });
        // One after the other, each takes a latency, once memory has what had to leave before.
        Sim::work(Cycles(10_000));
        let start = Sim::now();
        let page = region.block(1500, PAGE);
        let found = Sim::touch(page, Touch::READ.every(4).with_lines_under_way(1));
        assert_eq!(found.memory, 16);
        assert_eq!(Sim::now() - start, Cycles(16 * 204));
    });
}

#[test]
fn two_runs_are_the_same() {
    let run = || {
        let log = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&log);
        let outcome = simulate(&machine("core-i7-6700"), 8, 4096, move |core, region| {
            let mut next = u64::from(core);
            for _ in 0..2000 {
                next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                let index = (next >> 33) as usize % 4096;
                let how = if next >> 60 < 8 { Touch::READ } else { Touch::WRITE };
                let found = Sim::touch(page(region, index), how.every(1 + (next >> 40) as u32 % 4));
                Sim::write(page(region, (next >> 20) as usize % 4096).at(128));
                seen.borrow_mut().push((found, Sim::now()));
            }
        });
        (log.take(), format!("{outcome:?}"))
    };
    assert!(run() == run());
}
