//! Who pays for what: each reference is entered in the row of its mapping.
//!
//! The memories say what each burst has cost, the stream says what was mapped where, and the ledger
//! brings the two together. It also counts each page's references by node. What it needs grows with what
//! the program has mapped at a time.

use crate::{Burst, Costs, Memory, Node, Observer, Options, Page, Reference};
use kilocore_platform::Cycles;
use kilocore_references::{Backing, Block, EventKind, Mapping, Move, PageNumber, Region};

use crate::advice::blocks::Blocks;
use crate::advice::kind::MemoryKind;
use crate::advice::page_use::{Count, Owner, PageUse, best_home};
use crate::advice::regions::{Piece, Regions, RowId};
use crate::advice::rows::{Rows, Sizes};
use crate::advice::sites::{Purpose, Sites};
use crate::advice::sums::{Placement, Sums};

/// What each memory is for, in their order.
pub(crate) const SIMULATED: [Placement; 4] =
    [Placement::FirstTouch, Placement::Interleaved, Placement::Migrated, Placement::Replicated];

/// Enters the cost of each reference in the row of its mapping, and counts the references to each
/// page by node.
#[derive(Debug)]
pub(crate) struct Ledger {
    costs: Costs,
    nodes: usize,
    rows: Rows,
    regions: Regions<RowId>,
    /// What lies in them.
    blocks: Blocks,
    sites: Sites,
    /// It changes whenever pages may belong to others than before.
    state: u32,
    /// By page: whose it is, and who has used it.
    pages: Vec<PageUse>,
    /// By page and node.
    counts: Vec<Count>,
    /// References by the node that serves them under first touch.
    loads: Vec<u64>,
    /// The row of the references under way; `None` if there are none.
    row: Option<RowId>,
    /// The optimum before them.
    optimum: u64,
    /// Mappings without a file so far.
    anonymous: u64,
    /// Whether the program has begun to refer to memory.
    begun: bool,
}

impl Ledger {
    pub(crate) fn new(options: &Options) -> Self {
        let nodes = options.nodes as usize;
        Self {
            costs: options.costs.clone(),
            nodes,
            rows: Rows::default(),
            regions: Regions::default(),
            blocks: Blocks::default(),
            sites: Sites::default(),
            state: 0,
            pages: Vec::new(),
            counts: Vec::new(),
            loads: vec![0; nodes],
            row: None,
            optimum: 0,
            anonymous: 0,
            begun: false,
        }
    }

    /// Learns of a change of the address space. The pages that go with it are forgotten by now.
    pub(crate) fn change(&mut self, kind: &EventKind) {
        self.state = self.state.wrapping_add(1);
        match kind {
            EventKind::Mapped(mapping) => self.map(mapping),
            EventKind::Unmapped(region) => drop(self.unmap(*region)),
            EventKind::Moved(moved) => self.relocate(moved),
            EventKind::Allocated(block) => self.allocate(block),
            EventKind::Freed(address) => self.blocks.free(*address, &mut self.rows),
            _ => {}
        }
    }

    fn allocate(&mut self, block: &Block) {
        let site = self.sites.of_block(&block.callers);
        let row = self.rows.row_for(MemoryKind::Allocated(site));
        self.count_mapping(row, block.bytes);
        self.blocks.allocate(block, row, &mut self.rows);
    }

    /// A mapping or block of so many bytes belongs to a row.
    fn count_mapping(&mut self, row: RowId, bytes: u64) {
        let row = self.rows.of(row);
        row.mappings += 1;
        row.sizes.merge(Sizes { smallest: bytes, largest: bytes });
    }

    fn map(&mut self, mapping: &Mapping) {
        let replaced = self.unmap(mapping.region);
        self.sites.map(mapping);
        let kind = self.kind(mapping, &replaced);
        let row = self.rows.row_for(kind);
        self.count_mapping(row, mapping.region.pages.saturating_mul(PageNumber::BYTES));
        self.lay(Piece { region: mapping.region, owner: row });
    }

    fn kind(&mut self, mapping: &Mapping, replaced: &[Piece<RowId>]) -> MemoryKind {
        match &mapping.backing {
            Backing::File(path) => MemoryKind::File(path.clone()),
            Backing::Heap => MemoryKind::Heap,
            Backing::Stack => MemoryKind::Stack,
            Backing::Anonymous => self
                .zeroed_data(mapping.region, replaced)
                .unwrap_or_else(|| self.anonymous(mapping)),
            _ => MemoryKind::Unknown,
        }
    }

    fn anonymous(&mut self, mapping: &Mapping) -> MemoryKind {
        if mapping.callers.is_empty() {
            self.anonymous += 1;
            let bytes = mapping.region.pages.saturating_mul(PageNumber::BYTES);
            return MemoryKind::Anonymous { bytes, order: self.anonymous };
        }
        match self.sites.of_mapping(&mapping.callers) {
            Purpose::Own(site) => MemoryKind::Allocated(site),
            Purpose::ThreadStack(site) => MemoryKind::ThreadStack(site),
            Purpose::Heap => MemoryKind::Heap,
        }
    }

    /// Zeroed data of a program or library is memory without a file. A loader puts it in the place of
    /// a part of the file. That of the first program is there at the beginning, behind the file.
    fn zeroed_data(&self, region: Region, replaced: &[Piece<RowId>]) -> Option<MemoryKind> {
        let before = || self.regions.find(PageNumber(region.first.0.checked_sub(1)?));
        let row = match replaced.first() {
            Some(piece) => piece.owner,
            None if self.begun => return None,
            None => *before()?,
        };
        match self.rows.kind(row) {
            MemoryKind::File(path) => Some(MemoryKind::ZeroedData(path.clone())),
            _ => None,
        }
    }

    fn unmap(&mut self, region: Region) -> Vec<Piece<RowId>> {
        self.blocks.unmap(region, &mut self.rows);
        self.sites.unmap(region);
        let gone = self.regions.remove(region);
        for piece in &gone {
            self.rows.of(piece.owner).mapped_pages -= piece.region.pages;
        }
        gone
    }

    fn lay(&mut self, piece: Piece<RowId>) {
        self.rows.of(piece.owner).mapped_pages += piece.region.pages;
        self.regions.insert(piece);
    }

    /// Memory keeps its row where it goes. What is new at its end belongs to the last.
    fn relocate(&mut self, moved: &Move) {
        self.unmap(moved.to);
        let pieces = self.unmap(moved.from);
        let mut next = moved.to.first.0;
        let end = moved.to.end();
        for (index, Piece { region, owner }) in pieces.iter().enumerate() {
            let first = moved.to.first.0 + (region.first.0 - moved.from.first.0);
            let is_last = index + 1 == pieces.len();
            next = if is_last { end } else { (first + region.pages).min(end) };
            let region = Region { first: PageNumber(first), pages: next.saturating_sub(first) };
            self.lay(Piece { region, owner: *owner });
        }
        if next < end {
            let owner = self.rows.row_for(MemoryKind::Unknown);
            let region = Region { first: PageNumber(next), pages: end - next };
            self.lay(Piece { region, owner });
        }
    }

    #[cold]
    fn make_room(&mut self, page: Page) {
        let pages = page.index() + 1;
        self.pages.resize(pages, PageUse::default());
        self.counts.resize(pages * self.nodes, Count::default());
    }

    /// Whose a page is now.
    fn owner(&mut self, number: PageNumber) -> Owner {
        let owner = || Some(Owner { row: *self.regions.find(number)?, block: 0 });
        let found = self.blocks.find(number).or_else(owner);
        found.unwrap_or_else(|| Owner { row: self.rows.row_for(MemoryKind::Unknown), block: 0 })
    }

    /// A page is used for the first time, or for the first time by its owner.
    #[cold]
    fn begin(&mut self, page: Page, owner: Owner, home: Node) {
        let row = self.rows.of(owner.row);
        row.sums.pages += 1;
        row.used_pages += 1;
        row.sums.most_pages = row.sums.most_pages.max(row.used_pages);
        let seen = self.state;
        self.pages[page.index()] = PageUse { home, owner, seen, ..PageUse::default() };
    }

    /// A page may belong to somebody else by now. What it was before goes to its row, and its home stays.
    #[cold]
    fn look_again(&mut self, page: Page, number: PageNumber) {
        let owner = self.owner(number);
        let before = &mut self.pages[page.index()];
        before.seen = self.state;
        if before.owner != owner {
            let home = before.home;
            self.close(page);
            self.begin(page, owner, home);
        }
    }

    /// What a page's best home would have saved goes to its row.
    fn close(&mut self, page: Page) {
        let Some(&PageUse { home, nodes, owner, .. }) = self.pages.get(page.index()) else {
            return;
        };
        if nodes.is_empty() {
            return;
        }
        let counts = &mut self.counts[page.index() * self.nodes..][..self.nodes];
        let best = best_home(&self.costs, counts, home);
        let references = counts.iter().map(|count| count.reads + count.writes).sum();
        counts.fill(Count::default());
        self.pages[page.index()] = PageUse::default();
        let row = self.rows.of(owner.row);
        row.used_pages -= 1;
        row.sums.belong(best.node, references, best.gain);
    }

    /// Whether the stream told of blocks.
    pub(crate) fn has_blocks(&self) -> bool {
        self.blocks.has_seen_any()
    }

    /// The rows as they are in the end, and the references that each node's memory served under first
    /// touch.
    pub(crate) fn close_all(mut self) -> (Rows, Vec<u64>) {
        (0..self.pages.len()).for_each(|page| self.close(Page(page as u32)));
        (self.rows, self.loads)
    }
}

/// Adds a burst to the sums of its row.
fn enter(sums: &mut Sums, page: &mut PageUse, reference: &Reference) {
    let Burst { reads, writes } = reference.burst;
    let node = reference.at.node;
    page.nodes = page.nodes.with(node);
    if page.nodes.len() > 1 {
        sums.shared_reads += u64::from(reads);
        sums.shared_writes += u64::from(writes);
    }
    if node != page.home {
        sums.remote += reference.burst.references();
    }
    sums.reads += u64::from(reads);
    sums.writes += u64::from(writes);
    sums.nodes = sums.nodes.with(node);
    sums.threads.insert(reference.thread);
}

impl Observer for Ledger {
    fn refers(&mut self, reference: &Reference) {
        self.begun = true;
        self.row = None;
        if reference.burst.references() == 0 {
            // The memories do not place such a page, either.
            return;
        }
        let page = reference.at.page;
        if page.index() >= self.pages.len() {
            self.make_room(page);
        }
        let PageUse { nodes, seen, .. } = self.pages[page.index()];
        if nodes.is_empty() {
            let owner = self.owner(reference.number);
            self.begin(page, owner, reference.at.node);
        } else if seen != self.state {
            self.look_again(page, reference.number);
        }
        let of_page = &mut self.pages[page.index()];
        let row = of_page.owner.row;
        self.row = Some(row);
        enter(&mut self.rows.of(row).sums, of_page, reference);
        self.loads[of_page.home.index()] += reference.burst.references();
        let count = page.index() * self.nodes + reference.at.node.index();
        self.counts[count].add(reference.burst);
    }

    fn served(&mut self, index: usize, memory: &Memory, Cycles(cost): Cycles) {
        let Some(row) = self.row else { return };
        let costs = &mut self.rows.of(row).sums.costs;
        costs.add(SIMULATED[index], cost);
        if let Some(Cycles(optimum)) = memory.optimum() {
            costs.add(Placement::Optimum, optimum - self.optimum);
            self.optimum = optimum;
        }
    }

    fn forgets(&mut self, page: Page) {
        self.close(page);
    }
}
