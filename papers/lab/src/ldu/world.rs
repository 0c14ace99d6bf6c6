//! The state that the simulated processes share.

use std::cell::RefCell;
use std::sync::Arc;

use kilocore_ldu::Scheme;
use kilocore_locks::{RawLock, RawRwLock, Ticket};
use kilocore_platform::{Atomic, Padded};
use kilocore_rivals::rmap::{Family, File, Layout, Memory, Page, Process, Region};
use kilocore_sim::{Sim, SimU32};

use crate::ldu::progress::Progress;
use crate::ldu::schemes::Lock;
use crate::ldu::workload::Setting;

/// Number of pages of each area of a file. The last areas of a file have anonymous pages.
pub(crate) const AREA_PAGES: u64 = 16;
/// Number of pages of an anonymous area.
const ANONYMOUS_PAGES: u64 = 64;
/// The distance, in pages, between the beginnings of areas that lie one after another.
pub(crate) const SPACING: u64 = 1024;

/// The machine's memory, and everything else that all processes share.
pub(crate) struct World<F: Scheme<Sim>, A: Scheme<Sim>> {
    pub(crate) memory: Memory<Sim, F, A>,
    pub(crate) layout: Layout<Sim, F>,
    /// A file of data that all processes map for a while.
    pub(crate) data: Arc<File<Sim, F>>,
    /// The families of the first process. The anonymous areas of all forked processes belong to
    /// them.
    pub(crate) families: RefCell<Vec<Arc<Family<Sim, A>>>>,
    pub(crate) directories: Vec<Padded<Lock>>,
    /// The lock of the process table. It is a ticket lock, because the writers of Linux's
    /// `tasklist_lock` had one until 4.2.
    pub(crate) process_table: Padded<Ticket<Sim>>,
    pub(crate) setting: Setting,
    /// Number of walks for each update.
    pub(crate) walks_per_update: f64,
    pub(crate) cycles_per_us: f64,
    pub(crate) progress: Progress,
    /// The process from which the tasks' own processes are forked. It is there as long as they need
    /// it.
    pub(crate) first: RefCell<Option<Process<Sim, F, A>>>,
    /// Zero until the first process exists, then one more than the number of tasks that have forked
    /// from it.
    pub(crate) started: SimU32,
}

impl<F: Scheme<Sim>, A: Scheme<Sim>> World<F, A> {
    pub(crate) fn new(
        cores: u32,
        setting: Setting,
        walks_per_update: f64,
        clock_ghz: f64,
        progress: Progress,
    ) -> Self {
        let memory = Memory::new(cores);
        let layout = layout(&memory, &setting);
        let directories = (0..setting.directories).map(|_| Padded(Lock::new())).collect();
        let data = memory.file();
        let cycles_per_us = clock_ghz * 1e3;
        Self {
            first: RefCell::new(None),
            families: RefCell::default(),
            started: SimU32::new(0),
            memory,
            layout,
            data,
            directories,
            process_table: Padded(Ticket::new()),
            setting,
            walks_per_update,
            cycles_per_us,
            progress,
        }
    }
}

/// Returns the areas of the program.
fn layout<F: Scheme<Sim>, A: Scheme<Sim>>(
    memory: &Memory<Sim, F, A>,
    setting: &Setting,
) -> Layout<Sim, F> {
    let mut start = 0;
    let mut layout = Layout::new();
    let mut add = |pages, file, written| {
        start += SPACING;
        layout.push(Region { start: Page(start), pages, file, written });
    };
    for _ in 0..setting.files {
        let file = memory.file();
        for area in 0..setting.areas_per_file {
            let offset = Page(u64::from(area) * AREA_PAGES);
            let written = area + setting.written_per_file >= setting.areas_per_file;
            add(AREA_PAGES, Some((Arc::clone(&file), offset)), written);
        }
    }
    for _ in 0..setting.anonymous {
        add(ANONYMOUS_PAGES, None, true);
    }
    layout
}
