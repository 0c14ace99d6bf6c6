//! Who pays for what: each reference is entered in the row of its mapping.
//!
//! The memories say what each burst has cost, the stream says what was mapped where, and the ledger
//! brings the two together. It also counts each page's references by node. What it needs grows with what
//! the program has mapped at a time.

use kilocore_placement::{Burst, Costs, Memory, Node, Observer, Options, Page, Reference};
use kilocore_platform::Cycles;
use kilocore_references::{Backing, Mapping, Move, PageNumber, Region, What};

use crate::kind::Kind;
use crate::page_use::{Count, PageUse, best_home};
use crate::regions::{Piece, Regions, RowId};
use crate::rows::Rows;
use crate::sums::{Placement, Sums};

/// What each memory is for, in their order.
pub(crate) const SIMULATED: [Placement; 4] =
    [Placement::FirstTouch, Placement::Interleaved, Placement::Migrated, Placement::Replicated];

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Ledger {
    costs: Costs,
    nodes: usize,
    rows: Rows,
    regions: Regions,
    /// By page: whose it is, and who has used it.
    pages: Vec<(RowId, PageUse)>,
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
    pub(crate) fn change(&mut self, what: &What) {
        match what {
            What::Mapped(mapping) => self.map(mapping),
            What::Unmapped(region) => drop(self.unmap(*region)),
            What::Moved(moved) => self.relocate(moved),
            _ => {}
        }
    }

    fn map(&mut self, mapping: &Mapping) {
        let replaced = self.unmap(mapping.region);
        let kind = self.kind(mapping, &replaced);
        let row = self.rows.row_for(kind);
        self.rows.of(row).mappings += 1;
        self.lay(Piece { region: mapping.region, row });
    }

    fn kind(&mut self, mapping: &Mapping, replaced: &[Piece]) -> Kind {
        match &mapping.backing {
            Backing::File(path) => Kind::File(path.clone()),
            Backing::Heap => Kind::Heap,
            Backing::Stack => Kind::Stack,
            Backing::Anonymous => self.zeroed_data(mapping.region, replaced).unwrap_or_else(|| {
                self.anonymous += 1;
                let bytes = mapping.region.pages.saturating_mul(PageNumber::BYTES);
                Kind::Anonymous { bytes, order: self.anonymous }
            }),
            _ => Kind::Unknown,
        }
    }

    /// Zeroed data of a program or library is memory without a file. A loader puts it in the place of
    /// a part of the file. That of the first program is there at the beginning, behind the file.
    fn zeroed_data(&self, region: Region, replaced: &[Piece]) -> Option<Kind> {
        let before = || self.regions.find(PageNumber(region.first.0.checked_sub(1)?));
        let row = match replaced.first() {
            Some(piece) => piece.row,
            None if self.begun => return None,
            None => before()?,
        };
        match self.rows.kind(row) {
            Kind::File(path) => Some(Kind::ZeroedData(path.clone())),
            _ => None,
        }
    }

    fn unmap(&mut self, region: Region) -> Vec<Piece> {
        let gone = self.regions.remove(region);
        for piece in &gone {
            self.rows.of(piece.row).mapped_pages -= piece.region.pages;
        }
        gone
    }

    fn lay(&mut self, piece: Piece) {
        self.rows.of(piece.row).mapped_pages += piece.region.pages;
        self.regions.insert(piece);
    }

    /// Memory keeps its row where it goes. What is new at its end belongs to the last.
    fn relocate(&mut self, moved: &Move) {
        self.unmap(moved.to);
        let pieces = self.unmap(moved.from);
        let mut next = moved.to.first.0;
        let end = moved.to.end();
        for (index, Piece { region, row }) in pieces.iter().enumerate() {
            let first = moved.to.first.0 + (region.first.0 - moved.from.first.0);
            let is_last = index + 1 == pieces.len();
            next = if is_last { end } else { (first + region.pages).min(end) };
            let region = Region { first: PageNumber(first), pages: next.saturating_sub(first) };
            self.lay(Piece { region, row: *row });
        }
        if next < end {
            let row = self.rows.row_for(Kind::Unknown);
            self.lay(Piece { region: Region { first: PageNumber(next), pages: end - next }, row });
        }
    }

    #[cold]
    fn make_room(&mut self, page: Page) {
        let pages = page.index() + 1;
        self.pages.resize(pages, (RowId(0), PageUse::default()));
        self.counts.resize(pages * self.nodes, Count::default());
    }

    /// A page is used for the first time.
    #[cold]
    fn begin(&mut self, page: Page, number: PageNumber, node: Node) {
        let row = match self.regions.find(number) {
            Some(row) => row,
            None => self.rows.row_for(Kind::Unknown),
        };
        self.rows.of(row).sums.pages += 1;
        self.pages[page.index()] = (row, PageUse { home: node, ..PageUse::default() });
    }

    /// What a page's best home would have saved goes to its row.
    fn close(&mut self, page: Page) {
        let Some(&(row, PageUse { home, nodes })) = self.pages.get(page.index()) else { return };
        if nodes.is_empty() {
            return;
        }
        let counts = &mut self.counts[page.index() * self.nodes..][..self.nodes];
        let best = best_home(&self.costs, counts, home);
        let references = counts.iter().map(|count| count.reads + count.writes).sum();
        counts.fill(Count::default());
        self.pages[page.index()] = (row, PageUse::default());
        self.rows.of(row).sums.belong(best.node, references, best.gain);
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
        if self.pages[page.index()].1.nodes.is_empty() {
            self.begin(page, reference.number, reference.at.node);
        }
        let (row, of_page) = &mut self.pages[page.index()];
        self.row = Some(*row);
        enter(&mut self.rows.of(*row).sums, of_page, reference);
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
