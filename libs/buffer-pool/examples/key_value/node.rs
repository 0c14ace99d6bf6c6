//! Nodes of the tree, and how they lie in pages.
//!
//! A node is its kind, a byte, the number of its entries, two bytes, and the entries in the order of their
//! keys: the lengths of key and value, two bytes each, the key and the value. The values of a branch are the
//! numbers of pages; a child's key is not larger than any key below it, but for the first child's, which
//! does not matter.

use kilocore_buffer_pool::PageId;

/// The size of a page in bytes.
pub(crate) const PAGE: usize = 4096;
/// The longest key in bytes.
pub(crate) const LONGEST_KEY: usize = 255;
/// The longest value in bytes. Of two entries more than a page has room for, each half fits into a page.
pub(crate) const LONGEST_VALUE: usize = 767;

const HEAD: usize = 3;
const LENGTHS: usize = 4;

/// A node, in memory of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) is_leaf: bool,
    pub(crate) entries: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The page is no node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Corrupt;

/// Takes so many bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Corrupt> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(Corrupt)?;
    *bytes = rest;
    Ok(taken)
}

fn take_length(bytes: &mut &[u8]) -> Result<usize, Corrupt> {
    let length = take(bytes, 2)?;
    Ok(usize::from(u16::from_le_bytes([length[0], length[1]])))
}

impl Node {
    pub(crate) fn leaf() -> Self {
        Self { is_leaf: true, entries: Vec::new() }
    }

    pub(crate) fn branch(children: Vec<(Vec<u8>, PageId)>) -> Self {
        let entry = |(key, child): (Vec<u8>, PageId)| (key, child.0.to_le_bytes().to_vec());
        Self { is_leaf: false, entries: children.into_iter().map(entry).collect() }
    }

    /// Reads a node from a page.
    pub(crate) fn decode(mut bytes: &[u8]) -> Result<Self, Corrupt> {
        let is_leaf = match take(&mut bytes, 1)? {
            [1] => true,
            [2] => false,
            _ => return Err(Corrupt),
        };
        let count = take_length(&mut bytes)?;
        let mut entries = Vec::with_capacity(count.min(PAGE / LENGTHS));
        for _ in 0..count {
            let (key, value) = (take_length(&mut bytes)?, take_length(&mut bytes)?);
            let key = take(&mut bytes, key)?.to_vec();
            entries.push((key, take(&mut bytes, value)?.to_vec()));
        }
        Ok(Self { is_leaf, entries })
    }

    /// Writes the node, which fits, into a page.
    pub(crate) fn encode(&self, page: &mut [u8]) {
        let mut bytes = Vec::with_capacity(page.len());
        bytes.push(if self.is_leaf { 1 } else { 2 });
        bytes.extend((self.entries.len() as u16).to_le_bytes());
        for (key, value) in &self.entries {
            bytes.extend((key.len() as u16).to_le_bytes());
            bytes.extend((value.len() as u16).to_le_bytes());
            bytes.extend(key);
            bytes.extend(value);
        }
        page[..bytes.len()].copy_from_slice(&bytes);
        page[bytes.len()..].fill(0);
    }

    fn size_of(entry: &(Vec<u8>, Vec<u8>)) -> usize {
        LENGTHS + entry.0.len() + entry.1.len()
    }

    /// Cuts the node into those that fit into a page: one or two.
    pub(crate) fn cut(mut self) -> Vec<Self> {
        let size: usize = self.entries.iter().map(Self::size_of).sum();
        if HEAD + size <= PAGE {
            return vec![self];
        }
        let mut first = 0;
        let at = self.entries.iter().position(|entry| {
            first += Self::size_of(entry);
            first >= size / 2
        });
        let second = self.entries.split_off(at.map_or(1, |at| at + 1));
        let is_leaf = self.is_leaf;
        vec![self, Self { is_leaf, entries: second }]
    }

    /// Returns which entry of a branch leads to a key.
    pub(crate) fn toward(&self, key: &[u8]) -> usize {
        self.entries.partition_point(|(first, _)| &**first <= key).saturating_sub(1)
    }

    /// Returns an entry's child.
    pub(crate) fn child(&self, index: usize) -> Result<PageId, Corrupt> {
        let (_, value) = self.entries.get(index).ok_or(Corrupt)?;
        let number = value.as_slice().try_into().map_err(|_| Corrupt)?;
        Ok(PageId(u64::from_le_bytes(number)))
    }

    /// Returns where a key is in a leaf, or where it would be.
    pub(crate) fn place(&self, key: &[u8]) -> Result<usize, usize> {
        self.entries.binary_search_by(|(other, _)| other.as_slice().cmp(key))
    }
}
