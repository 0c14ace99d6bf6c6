//! The reverse mapping under each scheme against a list of what is mapped where.

use std::collections::BTreeSet;
use std::sync::Arc;

use kilocore_checking::part_of;
use kilocore_ldu::{Adaptive, Deferred, Global, PerCore, Scheme};
use kilocore_locks::Rwsem;
use kilocore_platform::Native;
use kilocore_rivals::rmap::{Context, File, Mapping, Memory, Page, Process, ProcessId, Region};
use kilocore_rivals::{FlatCombining, Harris, Locked, OpLog, Ordered, Stock, Unordered};
use proptest::prelude::*;

/// Files that programs are made of.
const FILES: usize = 3;
/// How many pages each file has.
const PAGES: u64 = 40;

#[derive(Debug, Clone)]
enum Step {
    Exec,
    Fork(usize),
    Exit(usize),
    Mmap(usize, usize, bool),
    Munmap(usize, usize),
    WalkFile(usize, u64),
    WalkAnonymous(usize, usize, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let index = 0..1000usize;
    prop_oneof![
        2 => Just(Step::Exec),
        4 => index.clone().prop_map(Step::Fork),
        4 => index.clone().prop_map(Step::Exit),
        3 => (index.clone(), 0..FILES, any::<bool>()).prop_map(|(p, f, w)| Step::Mmap(p, f, w)),
        3 => (index.clone(), index.clone()).prop_map(|(p, a)| Step::Munmap(p, a)),
        1 => (0..FILES, 0..PAGES).prop_map(|(f, page)| Step::WalkFile(f, page)),
        2 => (index.clone(), index, 0..PAGES).prop_map(|(p, a, page)| Step::WalkAnonymous(p, a, page)),
    ]
}

/// A machine, its processes, and no more than that: what is mapped is read off the processes.
struct World<F: Scheme<Native>, A: Scheme<Native>> {
    memory: Memory<Native, F, A>,
    context: Context<Native, F, A>,
    files: Vec<Arc<File<Native, F>>>,
    processes: Vec<Process<Native, F, A>>,
    born: u64,
}

impl<F: Scheme<Native>, A: Scheme<Native>> World<F, A> {
    fn new() -> Self {
        let memory = Memory::new(4);
        Self {
            context: memory.context(),
            files: (0..FILES).map(|_| memory.file()).collect(),
            memory,
            processes: Vec::new(),
            born: 0,
        }
    }

    fn next_id(&mut self) -> ProcessId {
        self.born += 1;
        ProcessId(self.born)
    }

    fn region(&self, number: u64, file: usize, written: bool) -> Region<Native, F> {
        let file = Some((Arc::clone(&self.files[file]), Page(number % 7)));
        Region { start: Page(1000 * number), pages: PAGES - 10, file, written }
    }

    fn exec(&mut self) {
        let id = self.next_id();
        let layout = [
            self.region(1, 0, false),
            self.region(2, 0, true),
            self.region(3, 1, true),
            Region { start: Page(9000), pages: 20, file: None, written: true },
        ];
        self.processes.push(self.memory.exec(id, &layout, &mut self.context));
    }

    fn take(&mut self, step: &Step) {
        let count = self.processes.len();
        match *step {
            Step::Exec => self.exec(),
            Step::WalkFile(file, page) => self.check_file(file, page),
            _ if count == 0 => {}
            Step::Fork(parent) => {
                let id = self.next_id();
                let parent = &self.processes[parent % count];
                self.processes.push(self.memory.fork(parent, id, &mut self.context));
            }
            Step::Exit(process) => {
                let process = self.processes.swap_remove(process % count);
                self.memory.exit(process, &mut self.context);
            }
            Step::Mmap(process, file, written) => {
                let number = 20 + self.born;
                let region = self.region(number, file, written);
                let process = &mut self.processes[process % count];
                self.memory.mmap(process, &region, &mut self.context);
            }
            Step::Munmap(process, area) => {
                let process = &mut self.processes[process % count];
                if let Some(area) = area.checked_rem(process.areas().len()) {
                    self.memory.munmap(process, area, &mut self.context);
                }
            }
            Step::WalkAnonymous(process, area, page) => {
                self.check_anonymous(process % count, area, page);
            }
        }
    }

    fn check_file(&mut self, file: usize, page: u64) {
        let mut found = Vec::new();
        let mut show = |mapping| found.push(mapping);
        self.memory.walk_file(&self.files[file], page..=page, &mut show, &mut self.context);
        let mut expected = Vec::new();
        for process in &self.processes {
            for area in process.areas() {
                let Some((mapped, offset)) = area.file() else { continue };
                let pages = offset.0..offset.0 + area.pages();
                if Arc::ptr_eq(mapped, &self.files[file]) && pages.contains(&page) {
                    expected.push(Mapping { process: process.id(), area: area.start() });
                }
            }
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    /// Who may have a page that was born in the own `anon_vma` of an area.
    fn check_anonymous(&mut self, process: usize, area: usize, page: u64) {
        let areas = self.processes[process].areas();
        let Some(area) = area.checked_rem(areas.len()) else { return };
        let start = areas[area].start();
        let Some((family, anon_vma)) = areas[area].anon_vmas().last() else { return };
        let page = Page(start.0 + page);
        let mut found = BTreeSet::new();
        let mut show = |mapping| assert!(found.insert(mapping), "shown twice");
        self.memory.walk_anonymous(family, anon_vma, page, &mut show, &mut self.context);
        let mut expected = BTreeSet::new();
        for process in &self.processes {
            for area in process.areas() {
                let pages = area.start().0..area.start().0 + area.pages();
                let linked = |(of, other): (&Arc<_>, ProcessId)| {
                    Arc::ptr_eq(of, family) && other == anon_vma
                };
                if pages.contains(&page.0) && area.anon_vmas().any(linked) {
                    expected.insert(Mapping { process: process.id(), area: area.start() });
                }
            }
        }
        assert_eq!(found, expected);
    }

    fn end(mut self) {
        for process in std::mem::take(&mut self.processes) {
            self.memory.exit(process, &mut self.context);
        }
        for file in 0..FILES {
            for page in 0..PAGES {
                self.check_file(file, page);
            }
            assert_eq!(self.files[file].references(), 0);
        }
    }
}

fn run<F: Scheme<Native>, A: Scheme<Native>>(steps: &[Step]) {
    let mut world = World::<F, A>::new();
    for step in steps {
        world.take(step);
    }
    world.end();
}

type Lock = Rwsem<Native>;
type GlobalLdu = Deferred<Native, Global<Native>, Lock>;
type PerCoreLdu = Deferred<Native, PerCore<Native>, Lock>;
type AdaptiveLdu = Deferred<Native, Global<Native>, Lock, Adaptive<Native>>;
type Semaphore = Locked<Native, Lock, Stock>;
type Mutex = Locked<Native>;
type OrderedList = Harris<Native, Ordered>;
type UnorderedList = Harris<Native, Unordered>;
type Logs = OpLog<Native>;
type Combining = FlatCombining<Native>;

/// Does something for each way to share files and anonymous memory.
macro_rules! for_every_pair {
    ($run:ident($($argument:expr),*)) => {
        $run::<Semaphore, Semaphore>($($argument),*);
        $run::<Mutex, Mutex>($($argument),*);
        $run::<OrderedList, OrderedList>($($argument),*);
        $run::<UnorderedList, UnorderedList>($($argument),*);
        $run::<Logs, Logs>($($argument),*);
        $run::<Combining, Combining>($($argument),*);
        $run::<GlobalLdu, GlobalLdu>($($argument),*);
        $run::<PerCoreLdu, PerCoreLdu>($($argument),*);
        $run::<GlobalLdu, UnorderedList>($($argument),*);
        $run::<AdaptiveLdu, AdaptiveLdu>($($argument),*);
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(part_of(200) as u32))]

    #[test]
    fn every_scheme_finds_what_is_mapped(steps in prop::collection::vec(step(), 1..300)) {
        for_every_pair!(run(&steps));
    }
}

/// Threads that create processes and end them, with walks between, on files and families that
/// all share.
fn together<F: Scheme<Native>, A: Scheme<Native>>() {
    const THREADS: u64 = 4;
    let forks = part_of(300) as u64;
    let mut world = World::<F, A>::new();
    world.exec();
    let first = world.processes.pop().expect("just started");
    let (memory, files) = (&world.memory, &world.files);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let first = &first;
            scope.spawn(move || {
                let mut context = memory.context();
                for fork in 0..forks {
                    let id = ProcessId(2 + thread * forks + fork);
                    let child = memory.fork(first, id, &mut context);
                    let mut own = 0;
                    let mut found = |mapping: Mapping| own += u32::from(mapping.process == id);
                    let (page, mut pages) = (8, 0);
                    for area in child.areas() {
                        let Some((file, offset)) = area.file() else { continue };
                        let mapped = offset.0..offset.0 + area.pages();
                        pages += u32::from(Arc::ptr_eq(file, &files[0]) && mapped.contains(&page));
                    }
                    memory.walk_file(&files[0], page..=page, &mut found, &mut context);
                    assert_eq!(own, pages, "a process finds what it has mapped itself");
                    memory.exit(child, &mut context);
                }
            });
        }
    });
    world.processes.push(first);
    world.check_file(0, 8);
    world.check_anonymous(0, 3, 5);
    world.end();
}

#[test]
fn threads_share_files_and_families() {
    for_every_pair!(together());
}
