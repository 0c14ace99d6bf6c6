//! A page whose tables a test makes, and whose end is written by hand.

use std::path::Path;

/// From here on the page is written by hand, and stays.
const BY_HAND: &str = "\n## Where it misses";

/// Writes the page, and leaves in the file what is written there by hand.
pub(crate) fn write(file: &Path, page: &str) {
    let before = std::fs::read_to_string(file).unwrap_or_default();
    let by_hand = before.find(BY_HAND).map_or("", |from| &before[from..]);
    std::fs::write(file, format!("{page}{by_hand}")).expect("the file can be written");
}
