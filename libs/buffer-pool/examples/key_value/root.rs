//! Where the tree begins: two pages that are written in turn, so that one of them is whole at any time.

use kilocore_buffer_pool::PageId;

use super::node::PAGE;

const MAGIC: &[u8; 8] = b"kv-tree1";

/// A state of the tree that was made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Root {
    /// It grows with each state. It also says which of the two pages this is in.
    pub(crate) generation: u64,
    /// The node at the top; none in an empty tree.
    pub(crate) top: Option<PageId>,
    /// How many pages the file has.
    pub(crate) pages: u64,
}

impl Root {
    /// An empty tree, before anything is stored.
    pub(crate) const EMPTY: Root = Root { generation: 0, top: None, pages: 2 };

    /// The page in which it is.
    pub(crate) fn page(&self) -> PageId {
        PageId(self.generation % 2)
    }

    pub(crate) fn encode(&self, page: &mut [u8]) {
        let top = self.top.map_or(0, |top| top.0);
        page[..8].copy_from_slice(MAGIC);
        for (place, number) in [self.generation, top, self.pages].into_iter().enumerate() {
            page[8 + 8 * place..][..8].copy_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(&page[..32]);
        page[32..40].copy_from_slice(&sum.to_le_bytes());
    }

    /// Returns the root that is in a page, if there is one and it is whole.
    pub(crate) fn decode(page: &[u8; PAGE]) -> Option<Self> {
        let number = |place: usize| {
            let bytes = page[place..place + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes)
        };
        if &page[..8] != MAGIC || number(32) != checksum(&page[..32]) {
            return None;
        }
        let top = Some(PageId(number(16))).filter(|top| top.0 != 0);
        Some(Self { generation: number(8), top, pages: number(24) })
    }
}

/// The FNV-1a hash: enough to tell a page that was written in part.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
