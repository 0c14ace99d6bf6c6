//! What processes of a sweep do with files, measured on this host's disk.

use std::io;
use std::time::Instant;

use kilocore_points::{Batch, Key, Store, Subject, Version};
use kilocore_show::Table;

use crate::command::Effort;

/// The bytes of a point of a forecast's curve, about.
const POINT_BYTES: usize = 150;

/// What it takes to find what is kept, and to keep more, by how much is there, as Markdown.
///
/// # Errors
/// If files cannot be written.
pub fn measured(effort: Effort) -> io::Result<String> {
    let most = if effort == Effort::Full { 1_000_000 } else { 10_000 };
    let mut rows = Vec::new();
    for (points, subjects) in [(1000, 1), (most / 10, 1), (most, 1), (most, 1000), (most, 5000)] {
        let folder = tempfile::tempdir()?;
        let store = Store::without_limit(&folder.path().canonicalize()?)?;
        let version = Version::of_this_program().ok_or(io::ErrorKind::NotFound)?;
        let subject = |number: u32| Subject::new("evidence", version, &number);
        let mut key = 0u64;
        for number in 0..subjects {
            store.write(&subject(number), batch(&mut key, points / subjects))?;
        }
        let begun = Instant::now();
        let read = store.read(&subject(0));
        let reading = begun.elapsed();
        assert_eq!(read.len(), points as usize / subjects as usize, "what was written is read");
        let begun = Instant::now();
        store.write(&subject(0), batch(&mut key, 30))?;
        let writing = begun.elapsed();
        rows.push((
            format!("{points} points of {subjects} forecasts"),
            vec![
                format!("{:.1} ms", 1e3 * reading.as_secs_f64()),
                format!("{:.1} ms", 1e3 * writing.as_secs_f64()),
            ],
        ));
    }
    let table = Table {
        front: "kept",
        headings: ["a process reads what it needs", "a process writes 30 points"].into(),
        rows,
        ..Table::default()
    };
    Ok(table.markdown())
}

fn batch(next: &mut u64, points: u32) -> Batch {
    let mut batch = Batch::default();
    for _ in 0..points {
        *next += 1;
        batch.insert(Key::of_bytes(&next.to_le_bytes()), vec![7; POINT_BYTES].into());
    }
    batch
}
