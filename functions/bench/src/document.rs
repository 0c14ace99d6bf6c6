//! The document of a run: every sample, their summaries, and the circumstances of the run.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cpus::Pin;
use crate::environment::Environment;
use crate::scaling::Scaling;
pub use crate::summary::{Sample, Summary};
use crate::{Info, Kind, Refusal, benchmarks};

/// The name of the format.
pub const SCHEMA: &str = "kilocore-bench";
/// The version of the format. It stays the same when fields are added.
pub const VERSION: u32 = 1;

/// One run of some benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The name of the format: [`SCHEMA`].
    pub schema: String,
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// Where all its figures come from: `measured`.
    pub provenance: String,
    /// Which program made it, with which command and when.
    pub generated: Generated,
    /// The host on which it was measured.
    pub environment: Environment,
    /// The settings of the run.
    pub settings: Settings,
    /// The benchmarks in the order in which they ran.
    pub benchmarks: Vec<Outcome>,
}

/// Which program made a document, with which command and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generated {
    /// The program and its version.
    pub by: String,
    /// The command line with which it was measured.
    pub command: String,
    /// When the run began, in seconds since 1970.
    pub begun_unix_s: u64,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The numbers of cores, ascending.
    pub cores: Vec<u32>,
    /// How tasks were pinned to processors.
    pub pin: Pin,
    /// How many samples were taken of each benchmark on each number of cores.
    pub repeats: u32,
    /// For how many seconds the operations of a sample were counted.
    pub seconds: f64,
    /// For how many seconds the tasks of a sample ran before that.
    pub warm_up_seconds: f64,
    /// The seed from which the order of the samples was drawn.
    pub seed: u64,
}

/// The results of a benchmark, or why it has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The name of the benchmark.
    pub name: String,
    /// What the benchmark measures, in a few words.
    pub title: String,
    /// What one operation is.
    pub operation: String,
    /// The paper or the program that the benchmark comes from.
    pub source: String,
    /// Whether its tasks are threads or processes.
    pub kind: Kind,
    /// What was chosen for it on this host, such as a folder.
    pub notes: Vec<String>,
    /// Why it did not run at all, if it did not.
    pub refused: Option<Refused>,
    /// What was measured on each number of cores, ascending.
    pub points: Vec<Point>,
    /// What the curve shows, if there is a curve.
    pub scaling: Option<Scaling>,
}

/// A refusal, with its message for the reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The refusal as a sentence.
    pub message: String,
    /// The refusal itself, for programs.
    #[serde(flatten)]
    pub refusal: Refusal,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self { message: refusal.to_string(), refusal }
    }
}

/// A benchmark on one number of cores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The number of cores, which is also the number of tasks.
    pub cores: u32,
    /// The summary of the samples, if there are any.
    pub summary: Option<Summary>,
    /// Why there are no more samples, if a refusal ended them.
    pub refused: Option<Refused>,
    /// The samples in the order in which they were taken.
    pub samples: Vec<Sample>,
}

impl Outcome {
    /// Returns the results of a benchmark with these points. If no point has a sample, the refusal
    /// of the first point becomes that of the benchmark.
    #[must_use]
    pub fn new(info: &Info, kind: Kind, notes: Vec<String>, points: Vec<Point>) -> Self {
        let mut outcome = Self { notes, points, ..Self::refused_as(info, kind) };
        outcome.work_out();
        if let ([first, ..], false) = (&outcome.points[..], outcome.has_run()) {
            outcome.refused = first.refused.clone();
        }
        outcome
    }

    /// Works out from the samples everything that follows from them: the summaries, the speedups
    /// and the scaling.
    fn work_out(&mut self) {
        self.points.sort_by_key(|point| point.cores);
        for point in &mut self.points {
            point.summary = Summary::of(point.cores, &point.samples);
        }
        let first = self.points.iter().find_map(|point| Some((point.cores, point.summary?)));
        let alone = first.map_or(f64::NAN, |(fewest, base)| base.per_s / f64::from(fewest));
        for summary in self.points.iter_mut().filter_map(|point| point.summary.as_mut()) {
            summary.speedup = summary.per_s / alone;
        }
        let measured = self.points.iter().filter_map(|point| Some((point.cores, point.summary?)));
        let known = benchmarks::find(&self.name).ok().map(crate::Benchmark::info);
        let keeps_core = known.is_some_and(|info| info.keeps_core);
        self.scaling = Scaling::of(&measured.collect::<Vec<_>>(), keeps_core);
    }

    /// Returns the outcome of a benchmark that cannot run at all.
    #[must_use]
    pub fn refused(info: &Info, kind: Kind, refusal: Refusal) -> Self {
        Self { refused: Some(refusal.into()), ..Self::refused_as(info, kind) }
    }

    fn refused_as(info: &Info, kind: Kind) -> Self {
        Self {
            name: info.name.to_owned(),
            title: info.title.to_owned(),
            operation: info.operation.to_owned(),
            source: info.source.to_owned(),
            kind,
            notes: Vec::new(),
            refused: None,
            points: Vec::new(),
            scaling: None,
        }
    }

    /// Returns whether anything was measured.
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.points.iter().any(|point| point.summary.is_some())
    }
}

/// Why a text is not a document that this program reads.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The text is not JSON, or its fields are not those of a document.
    #[error(
        "not a document of kilocore bench: {0}; write one with kilocore bench --output FILE.json"
    )]
    Json(#[from] serde_json::Error),
    /// The document is of another format or another version.
    #[error(
        "holds a document of '{schema}', version {version}; this program reads {SCHEMA}, version {VERSION}"
    )]
    Schema {
        /// The name of its format.
        schema: String,
        /// The version of its format.
        version: u32,
    },
    /// The document has more benchmarks than a run can have.
    #[error("there are {found} benchmarks in it, and at most {most} can be; it is none of ours")]
    Benchmarks {
        /// How many it has.
        found: usize,
        /// How many it may have.
        most: usize,
    },
    /// A figure is impossible.
    #[error("{benchmark} on {cores} cores: {what}; the file was damaged or written by hand")]
    Figure {
        /// The name of the benchmark.
        benchmark: String,
        /// The number of cores.
        cores: u32,
        /// Which figure is impossible, and how.
        what: &'static str,
    },
}

/// The fields that all versions have. They are read first, to tell an unknown version from a
/// damaged document.
#[derive(Deserialize)]
struct Head {
    schema: String,
    version: u32,
}

impl Document {
    /// Reads a document. Summaries and scaling are worked out anew from its samples.
    ///
    /// The text is JSON and begins like this:
    ///
    /// ```text
    /// {"schema":"kilocore-bench","version":1,"provenance":"measured","generated":{"by":…
    /// ```
    ///
    /// # Errors
    /// [`DocumentError`] if the text is not a document, is of another version, or has impossible
    /// figures.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let Head { schema, version } = serde_json::from_str(text)?;
        if schema != SCHEMA || version != VERSION {
            return Err(DocumentError::Schema { schema, version });
        }
        let mut document: Self = serde_json::from_str(text)?;
        let found = document.benchmarks.len();
        if found > MOST_BENCHMARKS {
            return Err(DocumentError::Benchmarks { found, most: MOST_BENCHMARKS });
        }
        document.benchmarks.iter().try_for_each(check)?;
        document.benchmarks.iter_mut().for_each(Outcome::work_out);
        Ok(document)
    }

    /// Returns the benchmark of that name and kind, if the document has it.
    #[must_use]
    pub fn outcome(&self, name: &str, kind: Kind) -> Option<&Outcome> {
        self.benchmarks.iter().find(|outcome| outcome.name == name && outcome.kind == kind)
    }
}

/// The largest number of processors that Linux can be built for.
pub(crate) const MOST_CORES: u32 = 8192;
/// How many samples a benchmark may have on a number of cores. With more, what is worked out of
/// them would exceed the range of a floating-point number.
pub const MOST_SAMPLES: u32 = 1000;
/// How many benchmarks a document may have. It is far more than there are.
const MOST_BENCHMARKS: usize = 1000;
/// The range of plausible rates, in operations per second.
const RATES: std::ops::RangeInclusive<f64> = 1e-9..=1e15;

fn check(outcome: &Outcome) -> Result<(), DocumentError> {
    for point in &outcome.points {
        let fail = |what| {
            let (benchmark, cores) = (outcome.name.clone(), point.cores);
            Err(DocumentError::Figure { benchmark, cores, what })
        };
        if point.cores == 0 || point.cores > MOST_CORES {
            return fail("there is no such number of cores");
        }
        if point.samples.len() > MOST_SAMPLES as usize {
            return fail("there are more than 1000 samples");
        }
        if !point.samples.iter().all(|sample| RATES.contains(&sample.per_s)) {
            return fail("a rate is not one");
        }
        if outcome.points.iter().filter(|other| other.cores == point.cores).count() > 1 {
            return fail("it has two entries");
        }
    }
    Ok(())
}
