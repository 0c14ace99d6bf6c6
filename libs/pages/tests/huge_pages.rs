//! Pools on huge pages, which a test gets where this host has some to give.
//!
//! The kernel gives back no part of a huge page that was set aside, and does not say so. So what these tests
//! look for are bytes of a page's last owner. Where no huge page can be had, they say so on standard
//! error, past what the test program keeps to itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use kilocore_pages::{
    Backing, Contents, Decayed, MOST_FRAMES, PAGE_BYTES, PagePool, PoolError, PoolOptions,
    TieredOptions,
};

use crate::pool::{SHORT, look_for_others};

/// The pages of 4 KiB of a huge one.
const HUGE: u32 = 512;

/// Says that a test could not test what it is there for.
fn not_tested(why: &str) {
    // Past `eprintln`, whose text is kept back while a test succeeds.
    let line = format!("huge pages are not tested: {why}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Huge pages that were set aside for a test, as an administrator does it. They are given back at the end.
struct SetAside {
    file: File,
    before: u64,
}

impl SetAside {
    fn new(more: u64) -> Result<Self, String> {
        let name = "/proc/sys/vm/nr_hugepages";
        let file = OpenOptions::new().read(true).write(true).open(name);
        let mut file = file.map_err(|error| format!("{name}: {error}"))?;
        // Other tests that set some aside wait, so that each gives back what it took.
        // SAFETY: the descriptor is open.
        assert_eq!(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) }, 0, "{name} is locked");
        let before = number(&mut file);
        let mut own = Self { file, before };
        own.set(before + more).map_err(|error| format!("{name}: {error}"))?;
        let now = number(&mut own.file);
        if now < before + more {
            return Err(format!("{} of {more} could be set aside", now - before));
        }
        Ok(own)
    }

    /// Writes the number at the begin of the file: anywhere else the kernel takes no notice.
    fn set(&self, number: u64) -> io::Result<()> {
        self.file.write_all_at(number.to_string().as_bytes(), 0)
    }
}

fn number(file: &mut File) -> u64 {
    let mut text = String::new();
    file.rewind().and_then(|()| file.read_to_string(&mut text)).expect("it can be read");
    text.trim().parse().expect("it is a number")
}

impl Drop for SetAside {
    fn drop(&mut self) {
        let _ = self.set(self.before);
    }
}

/// Returns what the kernel says of the mapping of a pool's first page, in kilobytes.
fn said(pool: &PagePool, what: &str) -> u64 {
    let first = pool.first_page().addr().get();
    let all = fs::read_to_string("/proc/self/smaps").expect("the kernel says what is mapped");
    let mut is_own = false;
    for line in all.lines() {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let address = |text| usize::from_str_radix(text, 16);
        if let Some((Ok(from), Ok(to))) = range.map(|(from, to)| (address(from), address(to))) {
            is_own = (from..to).contains(&first);
        } else if let Some(rest) = line.strip_prefix(what).filter(|_| is_own) {
            let number = rest.trim_start_matches(':').trim().trim_end_matches(" kB");
            return number.parse().expect("it is a number");
        }
    }
    panic!("the kernel says nothing of {what}")
}

/// Returns options that give most pages to the cold tier, from where memory goes back.
fn options(pages: u32, backing: Backing) -> PoolOptions {
    let tiers = TieredOptions::one_cache(2, 4, 0);
    PoolOptions { backing, tiers, guarded: true, ..PoolOptions::new(pages) }
}

/// Fills pages and releases them, lets memory go, and looks whether the next owners find zeros.
fn look_for_old_bytes(mut pool: PagePool) {
    let all = pool.pages();
    // All of it; all but some pages here and there; and a few runs.
    for holes in [all, 100, 7] {
        let mut pages: Vec<_> = (0..all).map(|_| pool.allocate().expect("one is free")).collect();
        for page in &mut pages {
            assert!(page.iter().all(|byte| *byte == 0), "the bytes of a page's last owner");
            page.fill(0x5E);
        }
        let mut number = 0;
        let held: Vec<_> = pages
            .into_iter()
            .filter(|_| {
                number += 1;
                number % holes == holes - 1
            })
            .collect();
        let before = pool.statistics();
        assert_eq!(pool.trim().frames, before.private_now + before.cold_now);
        drop(held);
        pool.trim();
        assert_eq!(pool.trim(), Decayed::default(), "all of it is zero already");
        for pages in [1, 64, 63, 200, 512] {
            let mut run = pool.allocate_run(pages).expect("there is room");
            assert!(run.iter().all(|byte| *byte == 0), "the bytes of a run's last owner");
            run.fill(0x5F);
        }
        // Also where it is not the pool that looks: all of what is said to be zero is.
        let first = pool.allocate_run_with(HUGE, |page, contents| {
            // SAFETY: the page was allocated just now, and its bytes were written before.
            let bytes = unsafe { std::slice::from_raw_parts(page.as_ptr(), PAGE_BYTES) };
            let zero = bytes.iter().all(|byte| *byte == 0);
            assert!(contents == Contents::Unknown || zero, "a page is said to be zero");
        });
        // SAFETY: allocated above.
        unsafe { pool.release_run_raw(first.expect("there is room"), HUGE) };
    }
    assert_eq!(pool.validate(), all);
}

#[test]
fn on_huge_pages_that_were_set_aside_nobody_sees_old_bytes() {
    let aside = match SetAside::new(4) {
        Ok(aside) => aside,
        Err(why) => return not_tested(&why),
    };
    for pages in [HUGE, 2 * HUGE, 2 * HUGE + 100] {
        let pool = PagePool::new(&options(pages, Backing::HugeTlb)).expect("some are set aside");
        assert_eq!(said(&pool, "KernelPageSize"), 2048, "it is no pool on huge pages");
        look_for_old_bytes(pool);
    }
    let pool = PagePool::new(&options(600, Backing::HugeTlb)).expect("some are set aside");
    look_for_others(pool, 4, SHORT);
    drop(aside);
}

#[test]
fn more_huge_pages_than_were_set_aside_are_an_error_that_says_so() {
    let aside = SetAside::new(1);
    let most = PagePool::new(&options(MOST_FRAMES, Backing::HugeTlb));
    let error = most.expect_err("no host sets 8 TiB aside");
    assert!(matches!(error, PoolError::HugeTlb { huge_pages: 0x40_0000, .. }), "{error:?}");
    assert!(error.to_string().contains("vm.nr_hugepages"), "{error}");
    // One that is there is enough for as many pages as it has.
    match aside {
        Ok(_) => drop(PagePool::new(&options(HUGE, Backing::HugeTlb)).expect("one is set aside")),
        Err(why) => not_tested(&why),
    }
}

#[test]
fn on_huge_pages_that_the_system_makes_nobody_sees_old_bytes() {
    let name = "/sys/kernel/mm/transparent_hugepage/enabled";
    let enabled = fs::read_to_string(name).unwrap_or_default();
    if enabled.is_empty() || enabled.contains("[never]") {
        return not_tested(&format!("{name} says {enabled:?}"));
    }
    let pool =
        PagePool::new(&options(16 * HUGE, Backing::Transparent)).expect("the system has some");
    pool.allocate().expect("one is free").fill(1);
    let mut pages: Vec<_> = (0..15 * HUGE).map(|_| pool.allocate().expect("one is free")).collect();
    pages.iter_mut().for_each(|page| page.fill(1));
    drop(pages);
    if said(&pool, "AnonHugePages") == 0 {
        not_tested("no two free megabytes lie side by side");
    }
    look_for_old_bytes(pool);
}
