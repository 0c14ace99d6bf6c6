//! Which pages of the program are mapped files.

use std::collections::BTreeMap;
use std::ops::Range;

/// Pages that are mapped at one fault, if the page cache has them: 64 KiB, since Linux 3.15.
const AROUND: u64 = 16;

/// The ranges of pages that are mapped files, each of one mapping or a rest of it.
#[derive(Debug, Default)]
pub(crate) struct FilePages {
    /// The end of each range by its start. They do not overlap.
    ends: BTreeMap<u64, u64>,
}

impl FilePages {
    /// These pages are those of a file from now on.
    pub(crate) fn insert(&mut self, pages: Range<u64>) {
        self.remove(pages.clone());
        if !pages.is_empty() {
            self.ends.insert(pages.start, pages.end);
        }
    }

    /// These pages are not those of a file any more.
    pub(crate) fn remove(&mut self, pages: Range<u64>) {
        if pages.is_empty() {
            return;
        }
        while let Some((&start, &end)) = self.ends.range(..pages.end).next_back() {
            if end <= pages.start {
                break;
            }
            self.ends.remove(&start);
            if start < pages.start {
                self.ends.insert(start, pages.start);
            }
            if end > pages.end {
                self.ends.insert(pages.end, end);
            }
        }
    }

    /// What a fault on a page maps: the pages around it that are of the same file. `None` if it is of no file.
    pub(crate) fn around(&self, page: u64) -> Option<Range<u64>> {
        let (&start, &end) = self.ends.range(..=page).next_back()?;
        let first = page - page % AROUND;
        (page < end).then(|| first.max(start)..end.min(first + AROUND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_maps_what_is_around_it_of_the_same_file() {
        let mut files = FilePages::default();
        files.insert(100..140);
        files.insert(140..142);
        assert_eq!(files.around(99), None);
        assert_eq!(files.around(100), Some(100..112));
        assert_eq!(files.around(120), Some(112..128));
        assert_eq!(files.around(139), Some(128..140));
        assert_eq!(files.around(141), Some(140..142));
        assert_eq!(files.around(142), None);
    }

    #[test]
    fn ranges_are_cut_where_something_else_is_mapped() {
        let mut files = FilePages::default();
        files.insert(0..100);
        files.remove(40..60);
        assert_eq!(
            [files.around(39), files.around(40), files.around(59)],
            [Some(32..40), None, None]
        );
        assert_eq!(files.around(60), Some(60..64));
        files.insert(30..50);
        assert_eq!([files.around(29), files.around(49)], [Some(16..30), Some(48..50)]);
        files.remove(0..u64::MAX);
        assert_eq!(files.around(10), None);
        files.insert(5..5);
        assert_eq!(files.around(5), None);
    }
}
