//! Entries that could not be read: all are counted, the first one is remembered.

use super::error::ReadError;
use super::task::Task;
use crate::{Format, Remark};

/// Most bytes of a foreign text that a message shows.
const SHOWN: usize = 80;

/// What was left out so far.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    count: u64,
    first: Option<(u64, String)>,
}

impl Skipped {
    /// Counts an entry that was left out.
    pub(crate) fn note(&mut self, entry: u64, what: impl FnOnce() -> String) {
        self.count = self.count.saturating_add(1);
        self.first.get_or_insert_with(|| (entry, what()));
    }

    /// The first one, if there is any.
    pub(crate) fn first(&self) -> Option<&(u64, String)> {
        self.first.as_ref()
    }

    /// Refuses a file of which more was left out than was read. So many entries were read.
    pub(crate) fn check(
        &self,
        read: u64,
        format: Format,
        mend: &'static str,
        task: &Task<'_>,
    ) -> Result<(), ReadError> {
        match &self.first {
            Some((entry, what)) if self.count > read => Err(ReadError::MostlyUnreadable {
                file: task.file.to_owned(),
                format,
                read,
                unread: self.count,
                entry: *entry,
                what: what.clone(),
                mend,
            }),
            _ => Ok(()),
        }
    }

    /// What to tell the user.
    pub(crate) fn remark(self) -> Option<Remark> {
        let count = self.count;
        self.first.map(|(first, what)| Remark::Skipped { count, first, what })
    }
}

/// The beginning of a foreign text, fit for a message.
pub(crate) fn shown(text: &[u8]) -> String {
    let cut = &text[..text.len().min(SHOWN)];
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{:?}", String::from_utf8_lossy(cut).into_owned() + dots)
}
