//! The chains of all tasks, as links that they share.
//!
//! A chain begins with the program. Each link has what one stretch of it consists of, and the link before it. A task
//! that wakes another one ends its link there, and both go on with links of their own. So all chains are one tree, whose
//! root is the program's start. A link that only one other needs is added to that one, and a link that nobody needs is
//! freed. So there are never many more links than tasks, however long the program runs.

use super::sums::Sums;
use crate::ids::LinkId;
use crate::table::Table;

/// Links are added to one another when there are so many, at the least.
const FEW: usize = 256;

#[derive(Debug, Default)]
struct Link {
    before: Option<LinkId>,
    /// How many links and holders need it.
    needed: u32,
    sums: Sums,
}

#[derive(Debug)]
pub(super) struct Links {
    links: Table<LinkId, Link>,
    free: Vec<LinkId>,
    /// They are added to one another when more than so many are there.
    most: usize,
}

impl Links {
    pub(super) fn new() -> Self {
        Self { links: Table::new(), free: Vec::new(), most: FEW }
    }

    /// A chain that begins, for the caller to hold.
    pub(super) fn begin(&mut self) -> LinkId {
        self.link(None, Sums::default())
    }

    fn link(&mut self, before: Option<LinkId>, sums: Sums) -> LinkId {
        let link = Link { before, needed: 1, sums };
        match self.free.pop() {
            Some(id) => {
                self.links[id] = link;
                id
            }
            None => {
                let id = self.links.next_id();
                self.links.push(link);
                id
            }
        }
    }

    /// Lets somebody else hold a link, too.
    pub(super) fn share(&mut self, link: LinkId) -> LinkId {
        self.links[link].needed += 1;
        link
    }

    /// Makes a chain longer by these, and leaves them empty. The caller holds the chain, and then the longer one
    /// instead.
    pub(super) fn extend(&mut self, chain: LinkId, sums: &mut Sums) -> LinkId {
        if sums.is_empty() {
            return chain;
        }
        if self.links[chain].needed == 1 {
            self.links[chain].sums.absorb(sums);
            return chain;
        }
        if self.links.len() - self.free.len() >= self.most {
            self.join();
        }
        self.link(Some(chain), std::mem::take(sums))
    }

    /// The caller does not hold a link any more.
    pub(super) fn release(&mut self, link: LinkId) {
        let mut next = Some(link);
        while let Some(id) = next {
            let link = &mut self.links[id];
            link.needed -= 1;
            if link.needed > 0 {
                return;
            }
            next = link.before;
            *link = Link::default();
            self.free.push(id);
        }
    }

    /// Adds each link that only one other needs to that one.
    #[cold]
    fn join(&mut self) {
        for id in self.links.ids() {
            if self.links[id].needed == 0 {
                continue;
            }
            while let Some(before) = self.links[id].before {
                // Whoever holds a link needs it as well. So if it is needed once, it is by this one.
                if self.links[before].needed > 1 {
                    break;
                }
                let mut taken = std::mem::take(&mut self.links[before]);
                self.free.push(before);
                let link = &mut self.links[id];
                link.before = taken.before;
                link.sums.absorb(&mut taken.sums);
            }
        }
        self.most = FEW.max(2 * (self.links.len() - self.free.len()));
    }

    /// All that a chain consists of.
    pub(super) fn sums(&self, chain: LinkId) -> Sums {
        let (mut all, mut next) = (Sums::default(), Some(chain));
        while let Some(id) = next {
            let link = &self.links[id];
            all.absorb(&mut link.sums.clone());
            next = link.before;
        }
        all
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.links.len() - self.free.len()
    }
}
