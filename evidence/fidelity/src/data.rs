//! The published measurements, as `data/litl` holds them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kilocore_locks::LockId;
use serde::Deserialize;
use thiserror::Error;

/// A machine of the data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// The data set's name for it, and its file's without the ending.
    pub name: &'static str,
    /// The machine file that describes it.
    pub description: &'static str,
    /// Cores of a NUMA node, each with one thread.
    pub cores_per_node: u32,
}

/// The machines of the data set.
pub const MACHINES: [Machine; 2] = [
    Machine { name: "A48", description: "opteron-6344-4s", cores_per_node: 6 },
    Machine { name: "I48", description: "xeon-e7-4830v3-4s", cores_per_node: 12 },
];

/// What was measured on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// The machine on which all of it was measured.
    pub machine: Machine,
    /// The programs that were measured there, sorted by name.
    pub programs: Vec<Program>,
}

/// What was measured of one program.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Its name in the data set.
    pub name: String,
    /// One for each lock, sorted by alias.
    pub series: Vec<Series>,
}

/// A program under one lock.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The data set's name of the lock.
    pub alias: String,
    /// Kilocore's counterpart, if there is one.
    pub lock: Option<LockId>,
    /// One point for each number of nodes, ascending.
    pub points: Vec<Observed>,
}

/// The published throughput of a program under one lock on one number of nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// NUMA nodes whose cores were all used.
    pub nodes: u32,
    /// Median over runs, in the program's own unit per second.
    pub throughput: f64,
    /// The lower quartile of the throughput of the runs.
    pub q1: f64,
    /// The upper quartile of the throughput of the runs.
    pub q3: f64,
}

/// Why measurements could not be read.
#[derive(Debug, Error)]
pub enum DataError {
    /// The file cannot be opened, or is no table with the columns that are needed.
    #[error(
        "{file}: {why}; it needs the columns program, nodes, lock, throughput_median, \
             throughput_q1 and throughput_q3"
    )]
    Table {
        /// The path of the table.
        file: PathBuf,
        /// What the reader says, with the place.
        why: csv::Error,
    },
    /// A row makes no sense.
    #[error("{file}, line {line}: {why}; correct the row or take it out")]
    Row {
        /// The path of the table.
        file: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        why: &'static str,
    },
}

#[derive(Debug, Deserialize)]
struct Row {
    program: String,
    nodes: u32,
    lock: String,
    throughput_median: f64,
    throughput_q1: f64,
    throughput_q3: f64,
}

impl Row {
    fn fault(&self) -> Option<&'static str> {
        let figures = [self.throughput_median, self.throughput_q1, self.throughput_q3];
        if self.nodes == 0 {
            Some("nodes must be at least 1")
        } else if !figures.iter().all(|f| f.is_finite() && *f > 0.0) {
            Some("throughputs must be above zero")
        } else {
            None
        }
    }
}

impl DataSet {
    /// Reads the measurements of `machine` from its file in `folder`.
    ///
    /// # Errors
    /// [`DataError`] names the file and the place in it.
    pub fn read(folder: &Path, machine: Machine) -> Result<Self, DataError> {
        let file = folder.join(format!("{}.csv", machine.name));
        let table = |why| DataError::Table { file: file.clone(), why };
        let mut reader = csv::Reader::from_path(&file).map_err(table)?;
        let mut programs: BTreeMap<String, BTreeMap<String, Vec<Observed>>> = BTreeMap::new();
        let header = reader.headers().map_err(table)?.clone();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(table)? {
            let line = record.position().map_or(0, csv::Position::line);
            let row: Row = record.deserialize(Some(&header)).map_err(table)?;
            if let Some(why) = row.fault() {
                return Err(DataError::Row { file, line, why });
            }
            let points = programs.entry(row.program).or_default().entry(row.lock).or_default();
            if points.iter().any(|p| p.nodes == row.nodes) {
                let why = "this program, lock and number of nodes stood there before";
                return Err(DataError::Row { file, line, why });
            }
            points.push(Observed {
                nodes: row.nodes,
                throughput: row.throughput_median,
                q1: row.throughput_q1,
                q3: row.throughput_q3,
            });
        }
        let programs = programs.into_iter().map(|(name, series)| Program::new(name, series));
        Ok(Self { machine, programs: programs.collect() })
    }

    /// Reads the measurements of all machines.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, DataError> {
        MACHINES.into_iter().map(|machine| Self::read(folder, machine)).collect()
    }

    /// What was measured of a program.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }
}

impl Program {
    /// A program with its points by alias.
    #[must_use]
    pub fn new(name: String, series: BTreeMap<String, Vec<Observed>>) -> Self {
        let of = |(alias, mut points): (String, Vec<Observed>)| {
            points.sort_by_key(|p| p.nodes);
            Series { lock: alias.parse().ok(), alias, points }
        };
        Self { name, series: series.into_iter().map(of).collect() }
    }

    /// The numbers of nodes that it was measured on under `lock`, ascending.
    pub fn nodes_under(&self, lock: LockId) -> impl Iterator<Item = u32> {
        let series = self.series.iter().find(|series| series.lock == Some(lock));
        series.into_iter().flat_map(|series| &series.points).map(|point| point.nodes)
    }

    /// The locks that Kilocore has a counterpart of, which were measured wherever `lock` was.
    pub fn measured_as(&self, lock: LockId) -> impl Iterator<Item = (LockId, &Series)> {
        let nodes: Vec<u32> = self.nodes_under(lock).collect();
        self.series
            .iter()
            .filter(move |s| !nodes.is_empty() && nodes.iter().all(|&nodes| s.at(nodes).is_some()))
            .filter_map(|series| Some((series.lock?, series)))
    }

    /// Its series under a name of the data set.
    #[must_use]
    pub fn series(&self, alias: &str) -> Option<&Series> {
        self.series.iter().find(|s| s.alias == alias)
    }

    /// The largest number of nodes that it was measured on: all, for most.
    #[must_use]
    pub fn all_nodes(&self) -> u32 {
        self.series.iter().flat_map(|s| &s.points).map(|p| p.nodes).max().unwrap_or(0)
    }

    /// How many times faster the best lock is than the worst at all nodes, among all locks of the
    /// data set; 1 if there are none.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let all = self.all_nodes();
        let (low, high) = self
            .series
            .iter()
            .filter_map(|s| s.at(all))
            .fold((f64::INFINITY, 0.0_f64), |(l, h), p| (l.min(p.throughput), h.max(p.throughput)));
        if high > 0.0 { high / low } else { 1.0 }
    }
}

impl Series {
    /// The point at a number of nodes.
    #[must_use]
    pub fn at(&self, nodes: u32) -> Option<&Observed> {
        self.points.iter().find(|p| p.nodes == nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "program,nodes,lock,runs,throughput_median,throughput_q1,throughput_q3\n";

    fn read(rows: &str) -> Result<DataSet, DataError> {
        let folder = tempfile::tempdir().expect("a folder for the test");
        std::fs::write(folder.path().join("A48.csv"), rows).expect("the folder is writable");
        DataSet::read(folder.path(), MACHINES[0])
    }

    #[test]
    fn rows_become_sorted_series_with_their_counterparts() {
        let rows = format!(
            "{HEADER}b,2,ticket,5,4,3,5\nb,1,ticket,5,2,2,2\nb,1,no-such-lock,5,2,2,2\n\
             a,1,pthread,5,1,1,1\n"
        );
        let data = read(&rows).expect("the rows are good");
        let names: Vec<&str> = data.programs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let b = &data.programs[1];
        assert_eq!(b.all_nodes(), 2);
        let ticket = b.series("ticket").expect("it was there");
        assert_eq!(ticket.points.iter().map(|p| p.nodes).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(ticket.lock, Some(LockId::Ticket));
        assert_eq!(b.series("no-such-lock").and_then(|s| s.lock), None);
    }

    #[test]
    fn locks_without_counterpart_or_with_gaps_are_left_out() {
        let rows = ["1,pthread", "2,pthread", "1,mcs_spin", "2,mcs_spin", "1,clh_spin"];
        let mut rows: String = rows.map(|row| format!("p,{row},5,1,1,1\n")).concat();
        rows += "p,1,no-such-lock,5,1,1,1\np,2,no-such-lock,5,1,1,1\n";
        let data = read(&format!("{HEADER}{rows}")).expect("the rows are good");
        let program = data.program("p").expect("it was there");
        let names = |lock| program.measured_as(lock).map(|(_, s)| s.alias.as_str()).collect();
        let found: Vec<&str> = names(LockId::Futex);
        assert_eq!(found, ["mcs_spin", "pthread"]);
        let unmeasured: Vec<&str> = names(LockId::Cna);
        assert!(unmeasured.is_empty());
    }

    #[test]
    fn the_shipped_tables_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/litl");
        for data in DataSet::read_all(&folder).expect("the shipped tables are good") {
            assert!(data.programs.len() > 20);
            let machine = data.machine;
            let described = kilocore_machine::find(machine.description).expect("it is built in");
            assert_eq!(described.topology.cores_per_node(), machine.cores_per_node);
        }
    }

    #[test]
    fn a_bad_row_is_named_with_its_line() {
        for (rows, why) in [
            ("a,1,pthread,5,1,1,1\na,1,ticket,5,-2,1,1\n", "line 3: throughputs"),
            ("a,0,pthread,5,1,1,1\n", "line 2: nodes"),
            ("a,1,pthread,5,1,1,1\na,1,pthread,5,1,1,1\n", "line 3: this program"),
            ("a,1,pthread,5,fast,1,1\n", "line: 2"),
        ] {
            let error = read(&format!("{HEADER}{rows}")).expect_err("the row is bad").to_string();
            assert!(error.contains(why), "{error}");
        }
        let error = read("program,nodes\na,1\n").expect_err("columns are missing").to_string();
        assert!(error.contains("throughput_median"), "{error}");
    }
}
