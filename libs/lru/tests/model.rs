//! One thread, and a model of plain vectors: what the lists look like after any operations.

use std::collections::BTreeMap;

use kilocore_locks::Ttas;
use kilocore_lru::{
    AlreadyAdded, Class, Fate, FolioOrder, FrameId, Index, Layout, List, Options, OptionsError,
    PageLists, Striped,
};
use kilocore_platform::Native;
use proptest::prelude::*;

type Lists = Striped<Native, Ttas<Native>>;

const FRAMES: u32 = 24;

/// Something that one can do with lists.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Add(u32, FolioOrder, Class),
    Touch(u32),
    Deactivate(u32),
    Rotate(u32),
    SetEvictable(u32, bool),
    IsolateAndPutBack(u32),
    Remove(u32),
    Drain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Page {
    order: FolioOrder,
    class: Class,
    active: bool,
    referenced: bool,
    unevictable: bool,
    listed: bool,
}

impl Page {
    fn list(self) -> List {
        match (self.unevictable, self.active) {
            (true, _) => List::Unevictable,
            (false, true) => List::active(self.class),
            (false, false) => List::inactive(self.class),
        }
    }

    fn activate(&mut self) {
        if !self.unevictable {
            (self.active, self.referenced) = (true, false);
        }
    }

    fn deactivate(&mut self) {
        if !self.unevictable {
            (self.active, self.referenced) = (false, false);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Add,
    Activate,
    Deactivate,
    Rotate,
}

/// What is known of the lists.
#[derive(Debug)]
struct Model {
    layout: Layout,
    batch: usize,
    sorted: bool,
    pages: BTreeMap<u32, Page>,
    /// Of each stripe's lists, the frames, oldest first.
    lists: BTreeMap<(u32, List), Vec<u32>>,
    waiting: BTreeMap<Work, Vec<u32>>,
}

impl Model {
    fn chain(&mut self, frame: u32, list: List) -> &mut Vec<u32> {
        let stripe = self.layout.stripe(FrameId(frame));
        self.lists.entry((stripe, list)).or_default()
    }

    fn unlink(&mut self, frame: u32) -> bool {
        let Some(page) = self.pages.get(&frame).copied().filter(|page| page.listed) else {
            return false;
        };
        self.chain(frame, page.list()).retain(|other| *other != frame);
        self.pages.get_mut(&frame).unwrap().listed = false;
        true
    }

    fn link(&mut self, frame: u32, oldest: bool) {
        let page = self.pages.get_mut(&frame).unwrap();
        page.listed = true;
        let list = page.list();
        let chain = self.chain(frame, list);
        let at = if oldest { 0 } else { chain.len() };
        chain.insert(at, frame);
    }

    fn later(&mut self, work: Work, frame: u32) {
        let waiting = self.waiting.entry(work).or_default();
        waiting.push(frame);
        let is_large = self.pages[&frame].order != FolioOrder::PAGE;
        if waiting.len() >= self.batch || is_large {
            self.carry_out(work);
        }
    }

    fn carry_out(&mut self, work: Work) {
        let mut frames = self.waiting.remove(&work).unwrap_or_default();
        if self.sorted {
            // Of one stripe, the order stays.
            frames.sort_by_key(|frame| self.layout.stripe(FrameId(*frame)));
        }
        for frame in frames {
            if work != Work::Add && !self.unlink(frame) {
                continue;
            }
            let page = self.pages.get_mut(&frame).unwrap();
            match work {
                Work::Add => {}
                Work::Activate => page.activate(),
                Work::Deactivate | Work::Rotate => page.deactivate(),
            }
            self.link(frame, work == Work::Rotate);
        }
    }

    /// Whether a folio would have frames of another one.
    fn overlaps(&self, head: u32, order: FolioOrder) -> bool {
        let frames = |head: u32, order: FolioOrder| head..head + order.frames();
        let new = frames(head, order);
        self.pages.iter().any(|(other, page)| {
            let old = frames(*other, page.order);
            old.start < new.end && new.start < old.end
        })
    }

    fn drain(&mut self) {
        for work in [Work::Add, Work::Activate, Work::Deactivate, Work::Rotate] {
            self.carry_out(work);
        }
    }

    fn touch(&mut self, frame: u32) {
        let Some(page) = self.pages.get_mut(&frame).filter(|page| !page.unevictable) else {
            return;
        };
        match (page.referenced, page.active, page.listed) {
            (false, ..) => page.referenced = true,
            (true, true, _) => {}
            (true, false, false) => page.activate(),
            (true, false, true) => {
                page.referenced = false;
                self.later(Work::Activate, frame);
            }
        }
    }

    fn set_evictable(&mut self, frame: u32, evictable: bool) {
        let Some(page) = self.pages.get(&frame).filter(|page| page.unevictable == evictable) else {
            return;
        };
        let listed = page.listed;
        self.unlink(frame);
        let page = self.pages.get_mut(&frame).unwrap();
        page.unevictable = !evictable;
        page.active &= evictable;
        if listed {
            self.link(frame, false);
        }
    }
}

fn run(lists: &mut Lists, model: &mut Model, operation: Operation) {
    let id = FrameId;
    match operation {
        Operation::Add(frame, order, class) => {
            let new = !model.pages.contains_key(&frame);
            if new && model.overlaps(frame, order) {
                return;
            }
            let expected = if new { Ok(()) } else { Err(AlreadyAdded(id(frame))) };
            assert_eq!(lists.add_folio(id(frame), order, class, None), expected);
            if new {
                let page = Page {
                    order,
                    class,
                    active: false,
                    referenced: false,
                    unevictable: false,
                    listed: false,
                };
                model.pages.insert(frame, page);
                model.later(Work::Add, frame);
            }
        }
        Operation::Touch(frame) => {
            lists.touch(id(frame));
            model.touch(frame);
        }
        Operation::Deactivate(frame) => {
            lists.deactivate(id(frame));
            match model.pages.get_mut(&frame) {
                Some(page) if page.listed && page.active => model.later(Work::Deactivate, frame),
                Some(page) if !page.listed => page.deactivate(),
                _ => {}
            }
        }
        Operation::Rotate(frame) => {
            lists.rotate(id(frame));
            if model.pages.get(&frame).is_some_and(|page| page.listed) {
                model.later(Work::Rotate, frame);
            }
        }
        Operation::SetEvictable(frame, evictable) => {
            lists.set_evictable(id(frame), evictable);
            model.set_evictable(frame, evictable);
        }
        Operation::IsolateAndPutBack(frame) => {
            let isolated = lists.isolate(id(frame));
            assert_eq!(isolated.is_some(), model.unlink(frame));
            if isolated.is_some() {
                drop(isolated);
                model.later(Work::Add, frame);
            }
        }
        Operation::Remove(frame) => {
            let isolated = lists.isolate(id(frame));
            assert_eq!(isolated.is_some(), model.unlink(frame));
            if let Some(isolated) = isolated {
                isolated.remove();
                model.pages.remove(&frame);
            }
        }
        Operation::Drain => {
            lists.drain();
            model.drain();
        }
    }
}

/// Mostly single pages, and folios of up to eight.
fn folio() -> impl Strategy<Value = (u32, FolioOrder)> {
    let order = prop_oneof![4 => Just(0), 1 => 1..=3_u8];
    (0..FRAMES, order).prop_map(|(frame, order)| {
        let order = FolioOrder::new(order).unwrap();
        (frame / order.frames() * order.frames(), order)
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let frame = 0..FRAMES;
    let class = prop_oneof![Just(Class::Anonymous), Just(Class::File)];
    prop_oneof![
        4 => (folio(), class).prop_map(|((head, order), class)| Operation::Add(head, order, class)),
        6 => frame.clone().prop_map(Operation::Touch),
        1 => frame.clone().prop_map(Operation::Deactivate),
        1 => frame.clone().prop_map(Operation::Rotate),
        1 => (frame.clone(), any::<bool>()).prop_map(|(f, e)| Operation::SetEvictable(f, e)),
        1 => frame.clone().prop_map(Operation::IsolateAndPutBack),
        1 => frame.prop_map(Operation::Remove),
        1 => Just(Operation::Drain),
    ]
}

fn layout() -> impl Strategy<Value = Layout> {
    let index = prop_oneof![Just(Index::Modulo), Just(Index::Hashed)];
    // Factors that are no powers of two, and more stripes than groups of frames.
    (1..=40_u32, any::<bool>(), index, 0..=5_u32).prop_map(|(factor, first, index, group_bits)| {
        let layout = if first { Layout::first_finer(factor) } else { Layout::finer(factor) };
        Layout { index, group_bits, ..layout }
    })
}

proptest! {
    #[test]
    fn lists_are_those_of_the_model(
        layout in layout(),
        batch in 1..=31_u32,
        sorted in any::<bool>(),
        operations in prop::collection::vec(operation(), 0..200),
    ) {
        let options = Options { layout, batch, sorted };
        let mut lists = Lists::new(FRAMES, 1, options).unwrap();
        let mut model = Model {
            layout,
            batch: batch as usize,
            sorted,
            pages: BTreeMap::new(),
            lists: BTreeMap::new(),
            waiting: BTreeMap::new(),
        };
        for operation in operations {
            run(&mut lists, &mut model, operation);
            lists.validate();
        }
        for stripe in 0..layout.factor {
            for list in List::ALL {
                let frames: Vec<u32> =
                    lists.oldest_first(stripe, list).into_iter().map(|frame| frame.0).collect();
                let expected = model.lists.get(&(stripe, list)).cloned().unwrap_or_default();
                prop_assert_eq!(frames, expected, "{:?} of stripe {}", list, stripe);
            }
        }
        for list in List::ALL {
            let pages = model.pages.values().filter(|page| page.listed && page.list() == list);
            let expected: u32 = pages.map(|page| page.order.frames()).sum();
            prop_assert_eq!(lists.len(list), expected, "{:?}", list);
        }
    }

    #[test]
    fn reclaim_takes_what_it_is_told_to_and_keeps_the_rest(
        layout in layout(),
        adds in prop::collection::vec((any::<bool>(), any::<bool>()), FRAMES as usize),
        target in 0..=FRAMES + 8,
        fates in prop::collection::vec(0..3_u8, 3 * FRAMES as usize),
    ) {
        let options = Options { layout, batch: 15, sorted: false };
        let mut lists = Lists::new(FRAMES, 1, options).unwrap();
        for (frame, (file, active)) in adds.iter().enumerate() {
            let class = if *file { Class::File } else { Class::Anonymous };
            lists.add(FrameId(frame as u32), class).unwrap();
            if *active {
                lists.touch(FrameId(frame as u32));
                lists.touch(FrameId(frame as u32));
            }
        }
        lists.drain();
        let mut fates = fates.into_iter();
        let mut told = Vec::new();
        let reclaimed = lists.reclaim(Class::File, target, &mut |frame| {
            match fates.next().unwrap() {
                0 => Fate::Keep,
                1 => Fate::Activate,
                _ => {
                    told.push(frame);
                    Fate::Reclaim
                }
            }
        });
        lists.validate();
        prop_assert_eq!(reclaimed as usize, told.len());
        prop_assert!(reclaimed <= target);
        for frame in told {
            prop_assert!(adds[frame.0 as usize].0, "{:?} is of a file", frame);
            prop_assert!(lists.add(frame, Class::File).is_ok(), "{:?} is a member still", frame);
        }
        lists.drain();
        let listed: u32 = List::ALL.into_iter().map(|list| lists.len(list)).sum();
        prop_assert_eq!(listed, FRAMES);
    }
}

#[test]
fn all_that_can_be_reclaimed_is() {
    for layout in [Layout::STOCK, Layout::first_finer(8), Layout::finer(7), Layout::finer(64)] {
        let mut lists = Lists::new(1000, 1, Options { layout, batch: 15, sorted: true }).unwrap();
        for frame in 0..1000 {
            lists.add(FrameId(frame), Class::File).unwrap();
            // Many of them active.
            for _ in 0..frame % 3 {
                lists.touch(FrameId(frame));
            }
        }
        lists.drain();
        let reclaimed = lists.reclaim(Class::File, 1000, &mut |_| Fate::Reclaim);
        assert_eq!(reclaimed, 1000, "{layout:?}");
        lists.validate();
    }
}

#[test]
fn with_one_stripe_the_oldest_page_is_reclaimed_first() {
    let lists =
        Lists::new(40, 1, Options { layout: Layout::STOCK, batch: 1, sorted: false }).unwrap();
    for frame in 0..40 {
        lists.add(FrameId(frame), Class::File).unwrap();
    }
    // Used twice, it is not looked at; used once, it has no second chance.
    lists.touch(FrameId(0));
    lists.touch(FrameId(0));
    lists.touch(FrameId(1));
    let mut order = Vec::new();
    lists.reclaim(Class::File, 5, &mut |frame| {
        order.push(frame.0);
        Fate::Reclaim
    });
    assert_eq!(order, [1, 2, 3, 4, 5]);
}

#[test]
fn a_judge_that_panics_loses_no_page() {
    let mut lists =
        Lists::new(8, 1, Options { layout: Layout::finer(2), batch: 1, sorted: false }).unwrap();
    for frame in 0..8 {
        lists.add(FrameId(frame), Class::File).unwrap();
    }
    let judge = std::panic::AssertUnwindSafe(|| {
        lists.reclaim(Class::File, 8, &mut |frame| {
            assert!(frame.0 < 2, "planted");
            Fate::Keep
        })
    });
    assert!(std::panic::catch_unwind(judge).is_err());
    lists.validate();
    assert_eq!(lists.len(List::InactiveFile), 8);
}

#[test]
fn options_out_of_their_ranges_are_refused() {
    let good = Options { layout: Layout::finer(3), batch: 31, sorted: false };
    let with = |layout: Layout, batch| Lists::new(8, 1, Options { layout, batch, ..good }).err();
    assert_eq!(with(good.layout, 31), None);
    assert_eq!(with(Layout::finer(0), 15), Some(OptionsError::Factor(0)));
    assert_eq!(with(Layout::first_finer(1 << 17), 15), Some(OptionsError::Factor(1 << 17)));
    assert_eq!(with(good.layout, 0), Some(OptionsError::Batch(0)));
    assert_eq!(with(good.layout, 32), Some(OptionsError::Batch(32)));
    let wide = Layout { group_bits: 32, ..good.layout };
    assert_eq!(with(wide, 15), Some(OptionsError::GroupBits(32)));
    assert_eq!(Lists::new(8, 0, good).err(), Some(OptionsError::NoCores));
}

#[test]
fn lists_of_no_frames_are_empty() {
    let options = Options { layout: Layout::finer(16), batch: 15, sorted: true };
    let mut lists = Lists::new(0, 2, options).unwrap();
    assert_eq!(lists.reclaim(Class::File, 5, &mut |_| Fate::Reclaim), 0);
    lists.validate();
}

/// 2 MiB apart: the paper's index puts all of them behind one lock of 32.
#[test]
fn a_hash_spreads_large_pages_over_the_stripes() {
    let stripes = |layout: Layout| {
        let large = (0..320).map(|page| layout.stripe(FrameId(512 * page)));
        large.collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(stripes(Layout::finer(32)), 1);
    assert_eq!(stripes(Layout { index: Index::Hashed, ..Layout::finer(32) }), 32);
}

#[test]
fn neighbours_share_a_stripe() {
    for index in [Index::Modulo, Index::Hashed] {
        let layout = Layout { index, ..Layout::finer(48) };
        for frame in 0..4096 {
            let stripe = layout.stripe(FrameId(frame));
            assert!(stripe < 48);
            assert_eq!(stripe, layout.stripe(FrameId(frame & !15)));
        }
    }
}
