//! What streams say of the address space.

use std::collections::BTreeMap;

use kilocore_reference_recorder::Options;
use kilocore_references::{Backing, Event, EventKind, PageNumber, Region, ThreadId};

use crate::support::{compiled, folder, options, ran, words};

/// The address space, as the stream tells it: for each page, what is there.
#[derive(Debug, Default)]
struct Pages {
    /// Regions by where they begin, with their ends.
    regions: BTreeMap<u64, (u64, Backing)>,
    /// Bursts of pages that are not mapped.
    outside: Vec<Event>,
    bursts: u64,
    /// How often something of each kind was told.
    told: BTreeMap<&'static str, u64>,
    of_stack: u64,
    of_heap: u64,
    of_library: u64,
}

impl Pages {
    fn remove(&mut self, region: Region) {
        let (first, end) = (region.first.0, region.end());
        let touched: Vec<u64> = self
            .regions
            .range(..end)
            .filter(|(_, (its_end, _))| *its_end > first)
            .map(|(its_first, _)| *its_first)
            .collect();
        for its_first in touched {
            let (its_end, backing) = self.regions.remove(&its_first).expect("it is there");
            if its_first < first {
                self.regions.insert(its_first, (first, backing.clone()));
            }
            if its_end > end {
                self.regions.insert(end, (its_end, backing));
            }
        }
    }

    fn insert(&mut self, region: Region, backing: Backing) {
        self.remove(region);
        self.regions.insert(region.first.0, (region.end(), backing));
    }

    fn backing(&self, page: PageNumber) -> Option<&Backing> {
        let (_, (end, backing)) = self.regions.range(..=page.0).next_back()?;
        (page.0 < *end).then_some(backing)
    }

    fn add(&mut self, event: Event) {
        let kind = match &event.kind {
            EventKind::Burst(burst) => {
                self.bursts += 1;
                match self.backing(burst.page) {
                    Some(Backing::Stack) => self.of_stack += 1,
                    Some(Backing::Heap) => self.of_heap += 1,
                    Some(Backing::File(name)) if name.contains("libc.so") => self.of_library += 1,
                    Some(_) => {}
                    None => self.outside.push(event),
                }
                return;
            }
            EventKind::Mapped(mapping) => {
                self.insert(mapping.region, mapping.backing.clone());
                "mapped"
            }
            EventKind::Unmapped(region) => {
                self.remove(*region);
                "unmapped"
            }
            EventKind::Moved(it) => {
                let backing = self.backing(it.from.first).expect("it was there").clone();
                self.remove(it.from);
                self.insert(it.to, backing);
                "moved"
            }
            EventKind::Discarded(_) => "discarded",
            _ => return,
        };
        *self.told.entry(kind).or_default() += 1;
    }
}

fn pages(command: &[std::ffi::OsString], options: Options<'_>) -> Pages {
    let ran = ran(command, options, |stream| {
        let mut pages = Pages::default();
        stream.for_each(|event| pages.add(event.expect("the stream is whole")));
        pages
    });
    assert_eq!(ran.status.code(), Some(0));
    ran.made
}

#[test]
fn no_page_is_used_before_it_is_mapped_or_after_it_is_gone() {
    let folder = folder();
    let program = compiled(folder.path(), "mappings.c");
    for slots in [256, 1 << 14] {
        let pages = pages(&words(&program, &[]), Options { slots, ..options() });
        assert!(
            pages.outside.is_empty(),
            "{} of {}: {:?}",
            pages.outside.len(),
            pages.bursts,
            pages.outside
        );
        assert!(pages.told["mapped"] > 1_200 && pages.told["unmapped"] > 1_200, "{:?}", pages.told);
        assert!(pages.told["moved"] >= 400 && pages.told["discarded"] >= 400, "{:?}", pages.told);
    }
}

#[test]
fn the_stack_the_heap_and_libraries_are_known() {
    let input = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mappings.rs");
    let pages = pages(&words("sort".as_ref(), &["--parallel=2", input]), options());
    assert!(pages.outside.is_empty(), "{:?}", pages.outside);
    assert!(pages.of_stack > 0 && pages.of_heap > 0 && pages.of_library > 0, "{pages:?}");
}

#[test]
fn the_first_thread_is_number_zero() {
    let ran = ran(&words("true".as_ref(), &[]), options(), |stream| {
        stream.next().expect("something happens").expect("the stream is whole")
    });
    assert_eq!((ran.made.thread, ran.made.kind), (ThreadId(0), EventKind::Started));
}
