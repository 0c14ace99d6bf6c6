//! Published measurements: the throughput of programs by machine, lock and number of nodes.

use std::collections::BTreeMap;
use std::path::Path;

use kilocore_locks::LockId;
use serde::Deserialize;

use crate::Error;

/// Median throughput by number of nodes, in the unit of the program.
pub type ByNodes = BTreeMap<u32, f64>;

/// What was measured of one program on one machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Published {
    /// By the name that the data set has for the lock.
    pub locks: BTreeMap<String, ByNodes>,
}

#[derive(Deserialize)]
struct Row {
    program: String,
    nodes: u32,
    lock: String,
    throughput_median: f64,
}

/// Reads the measurements made on one machine, by program.
///
/// # Errors
/// [`struct@Error`] if the file is missing or malformed.
pub fn read_published(path: &Path) -> Result<BTreeMap<String, Published>, Error> {
    let mut reader = csv::Reader::from_path(path).map_err(|e| Error::new(path, e))?;
    let mut programs: BTreeMap<String, Published> = BTreeMap::new();
    for row in reader.deserialize() {
        let Row { program, nodes, lock, throughput_median } =
            row.map_err(|e| Error::new(path, e))?;
        let locks = &mut programs.entry(program).or_default().locks;
        locks.entry(lock).or_default().insert(nodes, throughput_median);
    }
    Ok(programs)
}

impl Published {
    /// The locks that there is a counterpart of, which were measured on all numbers of nodes that
    /// `today` was: name, counterpart, throughput.
    pub fn with_counterpart(&self, today: LockId) -> Vec<(&str, LockId, &ByNodes)> {
        let Some(all) = self.today(today) else { return Vec::new() };
        self.locks
            .iter()
            .filter_map(|(name, by_nodes)| Some((name.as_str(), name.parse().ok()?, by_nodes)))
            .filter(|(_, _, by_nodes)| all.keys().all(|nodes| by_nodes.contains_key(nodes)))
            .collect()
    }

    /// The measurement under the lock that stands for the program as it is.
    #[must_use]
    pub fn today(&self, today: LockId) -> Option<&ByNodes> {
        let found = self.locks.iter().find(|(name, _)| name.parse() == Ok(today));
        found.map(|(_, by_nodes)| by_nodes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kilocore_locks::LockId;

    use super::Published;

    #[test]
    fn locks_without_counterpart_or_with_gaps_are_left_out() {
        let by_nodes = |nodes: &[u32]| nodes.iter().map(|n| (*n, 1.0)).collect();
        let locks = BTreeMap::from([
            ("pthread".to_owned(), by_nodes(&[1, 2])),
            ("mcs_spin".to_owned(), by_nodes(&[1, 2])),
            ("clh_spin".to_owned(), by_nodes(&[1])),
            ("no-such-lock".to_owned(), by_nodes(&[1, 2])),
        ]);
        let published = Published { locks };
        let found = published.with_counterpart(LockId::Futex);
        let names: Vec<&str> = found.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, ["mcs_spin", "pthread"]);
        assert!(Published::default().with_counterpart(LockId::Futex).is_empty());
    }
}
