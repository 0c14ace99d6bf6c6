//! One thread: S3-FIFO beside a model of plain vectors, and what must hold of all orders.

use std::collections::BTreeMap;

use kilocore_locks::Ttas;
use kilocore_lru::{
    Class, Fate, FrameId, Layout, List, MultiGeneration, Options, OptionsError, PageHash,
    PageLists, Policy, S3Fifo, S3FifoOptions, Striped,
};
use kilocore_platform::Native;
use proptest::prelude::*;

type Lock = Ttas<Native>;

/// Frames that are used. The queues have more, so that the model need not forget ghosts.
const FRAMES: u32 = 24;
const PAGES: u64 = 60;

#[derive(Debug, Clone)]
enum Operation {
    Add(u32, u64),
    Touch(u32),
    Deactivate(u32),
    Rotate(u32),
    SetEvictable(u32, bool),
    PutBack(u32),
    Remove(u32),
    Drain,
    Reclaim(u32, Vec<Fate>),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![4 => Just(Fate::Reclaim), 1 => Just(Fate::Keep), 1 => Just(Fate::Activate)]
}

/// Those that a queue of the paper knows.
fn of_the_paper() -> impl Strategy<Value = Operation> {
    let fates = prop::collection::vec(fate(), 2 * FRAMES as usize);
    prop_oneof![
        6 => (0..FRAMES, 0..PAGES).prop_map(|(frame, page)| Operation::Add(frame, page)),
        6 => (0..FRAMES).prop_map(Operation::Touch),
        2 => (0..FRAMES / 2, fates).prop_map(|(target, fates)| Operation::Reclaim(target, fates)),
    ]
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => of_the_paper(),
        1 => (0..FRAMES).prop_map(Operation::Deactivate),
        1 => (0..FRAMES).prop_map(Operation::Rotate),
        1 => (0..FRAMES, any::<bool>()).prop_map(|(f, e)| Operation::SetEvictable(f, e)),
        1 => (0..FRAMES).prop_map(Operation::PutBack),
        1 => (0..FRAMES).prop_map(Operation::Remove),
        1 => Just(Operation::Drain),
    ]
}

#[derive(Debug, Clone, Copy)]
struct Page {
    number: u64,
    uses: u32,
    main: bool,
}

/// S3-FIFO with batches of one, oldest first.
#[derive(Debug, Default)]
struct Model {
    pages: BTreeMap<u32, Page>,
    small: Vec<u32>,
    main: Vec<u32>,
    ghosts: Vec<u64>,
}

impl Model {
    fn append(&mut self, frame: u32) {
        if self.pages[&frame].main { &mut self.main } else { &mut self.small }.push(frame);
    }

    fn add(&mut self, frame: u32, number: u64) {
        let known = self.ghosts.iter().position(|ghost| *ghost == number);
        if let Some(place) = known {
            self.ghosts.remove(place);
        }
        self.pages.insert(frame, Page { number, uses: 0, main: known.is_some() });
        self.append(frame);
    }

    fn reclaim(&mut self, target: u32, fates: &[Fate]) -> Vec<u32> {
        let mut fates = fates.iter();
        let mut unseen = self.small.len() + self.main.len();
        let (mut gone, mut kept_in_row) = (Vec::new(), 0);
        while gone.len() < target as usize && unseen > 0 {
            let most = (target as usize - gone.len()).min(unseen);
            let share = ((self.small.len() + self.main.len()) / 10).max(1);
            let small = self.small.len();
            let from_small = self.main.is_empty() || small >= share && kept_in_row < small;
            let queue = if from_small { &mut self.small } else { &mut self.main };
            let taken: Vec<u32> = queue.drain(..most.min(queue.len())).collect();
            let mut leaving = Vec::new();
            for frame in taken {
                let page = self.pages.get_mut(&frame).unwrap();
                match (from_small, page.uses) {
                    (true, 0 | 1) | (false, 0) => {
                        leaving.push(frame);
                        continue;
                    }
                    (true, _) => (page.main, page.uses) = (true, 0),
                    (false, _) => page.uses -= 1,
                }
                self.append(frame);
            }
            unseen -= leaving.len();
            let (mut kept, seen, before) = (Vec::new(), leaving.len(), gone.len());
            for frame in leaving {
                match fates.next().unwrap() {
                    Fate::Reclaim => {
                        let page = self.pages.remove(&frame).unwrap();
                        if !page.main {
                            self.ghosts.retain(|ghost| *ghost != page.number);
                            self.ghosts.push(page.number);
                        }
                        gone.push(frame);
                    }
                    Fate::Activate => {
                        self.pages.get_mut(&frame).unwrap().main = true;
                        kept.push(frame);
                    }
                    Fate::Keep => kept.push(frame),
                }
            }
            kept.into_iter().for_each(|frame| self.append(frame));
            kept_in_row = if gone.len() > before { 0 } else { kept_in_row + seen };
        }
        gone
    }
}

/// Reclaims pages of files by these fates.
fn reclaim(lists: &impl PageLists<Native>, target: u32, fates: &[Fate]) -> Vec<u32> {
    let (mut fates, mut gone) = (fates.iter(), Vec::new());
    lists.reclaim(Class::File, target, &mut |frame| {
        let fate = *fates.next().unwrap_or(&Fate::Reclaim);
        if fate == Fate::Reclaim {
            gone.push(frame.0);
        }
        fate
    });
    gone
}

fn frames(list: Vec<FrameId>) -> Vec<u32> {
    list.into_iter().map(|frame| frame.0).collect()
}

proptest! {
    #[test]
    fn s3_fifo_is_that_of_the_model(operations in prop::collection::vec(of_the_paper(), 0..200)) {
        let options = S3FifoOptions { batch: 1, ..S3FifoOptions::PAPER };
        let mut lists: S3Fifo<Native, Lock> = S3Fifo::new(1024, 1, options).unwrap();
        let mut model = Model::default();
        for operation in operations {
            match operation {
                Operation::Add(frame, page) => {
                    // A page is in one frame at a time.
                    let there = model.pages.values().any(|other| other.number == page);
                    if there || model.pages.contains_key(&frame) {
                        continue;
                    }
                    lists.add_page(FrameId(frame), Class::File, PageHash(page)).unwrap();
                    model.add(frame, page);
                }
                Operation::Touch(frame) => {
                    lists.touch(FrameId(frame));
                    if let Some(page) = model.pages.get_mut(&frame) {
                        page.uses = (page.uses + 1).min(3);
                    }
                }
                Operation::Reclaim(target, fates) => {
                    let gone = reclaim(&lists, target, &fates);
                    prop_assert_eq!(gone, model.reclaim(target, &fates));
                }
                _ => unreachable!("these are those of the paper"),
            }
            lists.validate();
            prop_assert_eq!(frames(lists.oldest_first(0, List::InactiveFile)), model.small.clone());
            prop_assert_eq!(frames(lists.oldest_first(0, List::ActiveFile)), model.main.clone());
        }
    }

    #[test]
    fn s3_fifo_loses_no_page(run in run()) {
        let options = S3FifoOptions { batch: run.batch, ..S3FifoOptions::PAPER };
        let lists: S3Fifo<Native, Lock> = S3Fifo::new(FRAMES, 1, options).unwrap();
        loses_no_page(lists, S3Fifo::validate, &run);
    }

    #[test]
    fn generations_lose_no_page(run in run()) {
        let lists: MultiGeneration<Native, Lock> =
            MultiGeneration::new(FRAMES, 1, run.batch).unwrap();
        loses_no_page(lists, MultiGeneration::validate, &run);
    }

    #[test]
    fn lazy_stripes_lose_no_page(run in run(), factor in 1..=30_u32, policy in 0..3_usize) {
        let policy = [Policy::LAZY, Policy::RESISTANT, Policy::BALANCED][policy];
        let layout = Layout { group_bits: 1, ..Layout::finer(factor) };
        let options = Options { layout, batch: run.batch, sorted: true };
        let lists: Striped<Native, Lock> =
            Striped::with_policy(FRAMES, 1, options, policy).unwrap();
        loses_no_page(lists, Striped::validate, &run);
    }
}

/// What is done to lists, and with what batches.
#[derive(Debug, Clone)]
struct Run {
    batch: u32,
    operations: Vec<Operation>,
}

fn run() -> impl Strategy<Value = Run> {
    (1..=31_u32, prop::collection::vec(any_operation(), 0..200))
        .prop_map(|(batch, operations)| Run { batch, operations })
}

/// Checks that each member is on one list when nothing waits, and that all of them can be reclaimed.
fn loses_no_page<T: PageLists<Native>>(mut lists: T, check: impl Fn(&mut T), run: &Run) {
    let mut members = 0;
    for operation in run.operations.iter().cloned() {
        let id = FrameId;
        match operation {
            Operation::Add(frame, page) => {
                let added = lists.add_page(id(frame), Class::File, PageHash(page));
                members += u32::from(added.is_ok());
            }
            Operation::Touch(frame) => lists.touch(id(frame)),
            Operation::Deactivate(frame) => lists.deactivate(id(frame)),
            Operation::Rotate(frame) => lists.rotate(id(frame)),
            Operation::SetEvictable(frame, evictable) => lists.set_evictable(id(frame), evictable),
            Operation::PutBack(frame) => drop(lists.isolate(id(frame))),
            Operation::Remove(frame) => {
                if let Some(isolated) = lists.isolate(id(frame)) {
                    isolated.remove();
                    members -= 1;
                }
            }
            Operation::Drain => lists.drain(),
            Operation::Reclaim(target, fates) => {
                let gone = reclaim(&lists, target, &fates);
                assert!(gone.len() <= target as usize);
                members -= gone.len() as u32;
            }
        }
        check(&mut lists);
    }
    lists.drain();
    check(&mut lists);
    let listed: u32 = List::ALL.into_iter().map(|list| lists.len(list)).sum();
    assert_eq!(listed, members);
    (0..FRAMES).for_each(|frame| lists.set_evictable(FrameId(frame), true));
    lists.drain();
    assert_eq!(reclaim(&lists, FRAMES, &[]).len() as u32, members, "all can be reclaimed");
    check(&mut lists);
}

/// Adds pages 0 to `count` to the frames of the same numbers, each used once.
fn fill(lists: &impl PageLists<Native>, count: u32) {
    for frame in 0..count {
        add(lists, frame, frame.into());
    }
}

fn add(lists: &impl PageLists<Native>, frame: u32, page: u64) {
    lists.add_page(FrameId(frame), Class::File, PageHash(page)).unwrap();
    lists.touch(FrameId(frame));
}

#[test]
fn the_ghost_queue_of_s3_fifo_is_as_long_as_its_main_queue() {
    let options = S3FifoOptions { batch: 1, ..S3FifoOptions::PAPER };
    let comes_back_after = |others: u64| {
        let lists: S3Fifo<Native, Lock> = S3Fifo::new(100, 1, options).unwrap();
        add(&lists, 0, 0);
        assert_eq!(reclaim(&lists, 1, &[]), [0]);
        for other in 1..=others {
            add(&lists, 0, other);
            assert_eq!(reclaim(&lists, 1, &[]), [0]);
        }
        add(&lists, 0, 0);
        lists.len(List::ActiveFile) == 1
    };
    assert!(comes_back_after(0) && comes_back_after(90));
    assert!(!comes_back_after(91));
}

/// A page is active at once if no more pages left since than there are active ones.
#[test]
fn a_page_that_comes_back_soon_is_active() {
    let options = Options { layout: Layout::finer(4), batch: 1, sorted: false };
    let comes_back_after = |others: u32, policy: Policy| {
        let lists: Striped<Native, Lock> = Striped::with_policy(100, 1, options, policy).unwrap();
        fill(&lists, 60);
        // Ten of them are active.
        (50..60).for_each(|frame| lists.touch(FrameId(frame)));
        assert_eq!(reclaim(&lists, 1 + others, &[]).len() as u32, 1 + others);
        add(&lists, 0, 0);
        lists.len(List::ActiveFile) == 11
    };
    assert!(comes_back_after(0, Policy::RESISTANT) && comes_back_after(10, Policy::RESISTANT));
    assert!(!comes_back_after(11, Policy::RESISTANT));
    assert!(!comes_back_after(0, Policy::BALANCED));
}

#[test]
fn a_use_of_lazy_lists_moves_nothing_until_reclaim_does() {
    let options = Options { layout: Layout::finer(2), batch: 1, sorted: false };
    let lists: Striped<Native, Lock> = Striped::with_policy(40, 1, options, Policy::LAZY).unwrap();
    fill(&lists, 40);
    (0..3).for_each(|_| lists.touch(FrameId(0)));
    assert_eq!(lists.len(List::ActiveFile), 0);
    assert_eq!(reclaim(&lists, 2, &[]), [1, 2]);
    assert_eq!(lists.len(List::ActiveFile), 1);
}

#[test]
fn generations_give_up_the_oldest_pages_first() {
    let lists: MultiGeneration<Native, Lock> = MultiGeneration::new(40, 1, 1).unwrap();
    fill(&lists, 40);
    assert_eq!(reclaim(&lists, 3, &[Fate::Activate]), [1, 2, 3]);
    // What was activated is in the youngest generation.
    assert_eq!(lists.len(List::ActiveFile), 1);
    assert_eq!(reclaim(&lists, 37, &[]).last(), Some(&0));
}

/// Pages that were used twice come back, and those that were used once do not.
#[test]
fn a_tier_that_comes_back_is_protected() {
    let lists: MultiGeneration<Native, Lock> = MultiGeneration::new(400, 1, 1).unwrap();
    let twice = |frame: u32| lists.touch(FrameId(frame));
    for round in 0..2_u64 {
        // The same hundred pages each time, and a hundred others.
        (0..100).for_each(|frame| add(&lists, frame, frame.into()));
        (0..100).for_each(twice);
        (100..200).for_each(|frame| add(&lists, frame, 1_000 * (1 + round) + u64::from(frame)));
        if round == 0 {
            assert_eq!(reclaim(&lists, 200, &[]).len(), 200);
        }
    }
    // New pages, some of them used twice, are in the oldest generation.
    (200..220).for_each(|frame| add(&lists, frame, 9_000 + u64::from(frame)));
    (200..210).for_each(twice);
    let gone = reclaim(&lists, 110, &[]);
    assert!(gone.iter().all(|frame| (100..200).contains(frame) || *frame >= 210), "{gone:?}");
}

#[test]
fn options_out_of_their_ranges_are_refused() {
    let with = |small_percent, batch| {
        S3Fifo::<Native, Lock>::new(8, 1, S3FifoOptions { small_percent, batch }).err()
    };
    assert_eq!(with(100, 31), None);
    assert_eq!(with(101, 31), Some(OptionsError::Percent(101)));
    assert_eq!(with(10, 32), Some(OptionsError::Batch(32)));
    let generations = MultiGeneration::<Native, Lock>::new(8, 0, 15).err();
    assert_eq!(generations, Some(OptionsError::NoCores));
}

#[test]
fn a_machine_has_a_stripe_for_each_thread() {
    assert_eq!(Layout::for_machine(0), Layout::STOCK);
    assert_eq!(Layout::for_machine(1), Layout::STOCK);
    assert_eq!(Layout::for_machine(64).factor, 64);
    assert_eq!(Layout::for_machine(u32::MAX).factor, kilocore_lru::LARGEST_FACTOR);
}

/// All pages that were used once are pinned; one that was used again is not. It is found.
fn finds_the_one_that_can_go(lists: &impl PageLists<Native>) {
    fill(lists, 40);
    lists.touch(FrameId(7));
    lists.drain();
    // What the orders spare at first, they look at in the end.
    let mut gone = Vec::new();
    for _ in 0..2 {
        lists.reclaim(Class::File, 1, &mut |frame| {
            if frame.0 != 7 {
                return Fate::Keep;
            }
            gone.push(frame.0);
            Fate::Reclaim
        });
    }
    assert_eq!(gone, [7]);
}

#[test]
fn the_one_page_that_can_go_is_found() {
    for policy in [Policy::PLAIN, Policy::BALANCED, Policy::RESISTANT, Policy::LAZY] {
        for factor in [1, 4] {
            let options = Options { layout: Layout::finer(factor), batch: 1, sorted: false };
            let lists: Striped<Native, Lock> =
                Striped::with_policy(40, 1, options, policy).unwrap();
            finds_the_one_that_can_go(&lists);
        }
    }
    let queues: S3Fifo<Native, Lock> = S3Fifo::new(40, 1, S3FifoOptions::PAPER).unwrap();
    finds_the_one_that_can_go(&queues);
    let generations: MultiGeneration<Native, Lock> = MultiGeneration::new(40, 1, 1).unwrap();
    finds_the_one_that_can_go(&generations);
}
