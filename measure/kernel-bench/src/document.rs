//! What comes out: every sample, what they amount to, and where they were taken.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cpus::Pin;
use crate::environment::Environment;
use crate::scaling::Scaling;
pub use crate::summary::{Sample, Summary};
use crate::{Info, Kind, Refusal, benchmarks};

/// The name of the format.
pub const SCHEMA: &str = "kilocore-bench";
/// The version of the format. Fields may be added without a new one.
pub const VERSION: u32 = 1;

/// One run of some benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// `measured`, of all figures in it.
    pub provenance: String,
    /// By whom and how.
    pub generated: Generated,
    /// On what.
    pub environment: Environment,
    /// With what settings.
    pub settings: Settings,
    /// The benchmarks in the order in which they ran.
    pub benchmarks: Vec<Outcome>,
}

/// By whom and how a document was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generated {
    /// The program and its version.
    pub by: String,
    /// The command line.
    pub command: String,
    /// When it began, in seconds since 1970.
    pub begun_unix_s: u64,
}

/// How it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Numbers of cores, ascending.
    pub cores: Vec<u32>,
    /// How tasks were tied to processors.
    pub pin: Pin,
    /// Samples of each benchmark on each number of cores.
    pub repeats: u32,
    /// How long each was counted.
    pub seconds: f64,
    /// How long tasks ran before that.
    pub warm_up_seconds: f64,
    /// What the order of the samples comes from.
    pub seed: u64,
}

/// What became of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// What it measures.
    pub title: String,
    /// What one operation is.
    pub operation: String,
    /// Where it comes from.
    pub source: String,
    /// The kind of its tasks.
    pub kind: Kind,
    /// What was chosen for it, such as a folder.
    pub notes: Vec<String>,
    /// Why it did not run at all.
    pub refused: Option<Refused>,
    /// What was measured, by cores ascending.
    pub points: Vec<Point>,
    /// What the curve says, if there is one.
    pub scaling: Option<Scaling>,
}

/// A refusal, and the same in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The sentence.
    pub message: String,
    /// The refusal.
    #[serde(flatten)]
    pub refusal: Refusal,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self { message: refusal.to_string(), refusal }
    }
}

/// A benchmark on a number of cores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The cores, and tasks.
    pub cores: u32,
    /// What the samples amount to, if there are any.
    pub summary: Option<Summary>,
    /// Why there are no more samples.
    pub refused: Option<Refused>,
    /// The samples in the order in which they were taken.
    pub samples: Vec<Sample>,
}

impl Outcome {
    /// What becomes of a benchmark whose points are there.
    #[must_use]
    pub fn new(info: &Info, kind: Kind, notes: Vec<String>, points: Vec<Point>) -> Self {
        let mut outcome = Self { notes, points, ..Self::refused_as(info, kind) };
        outcome.work_out();
        if let ([first, ..], false) = (&outcome.points[..], outcome.has_run()) {
            outcome.refused = first.refused.clone();
        }
        outcome
    }

    /// Works out what the samples amount to.
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

    /// What becomes of a benchmark that cannot run at all.
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

    /// Whether anything was measured.
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.points.iter().any(|point| point.summary.is_some())
    }
}

/// Why a text is no document.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// Not JSON, or other fields.
    #[error("not a document of kilocore bench: {0}; write one with kilocore bench --save FILE")]
    Json(#[from] serde_json::Error),
    /// Another format.
    #[error(
        "holds a document of '{schema}', version {version}; this program reads {SCHEMA}, version {VERSION}"
    )]
    Schema {
        /// What it says it is.
        schema: String,
        /// In which version.
        version: u32,
    },
    /// More benchmarks than there are.
    #[error("there are {found} benchmarks in it, and at most {most} can be; it is none of ours")]
    Benchmarks {
        /// How many.
        found: usize,
        /// How many can be.
        most: usize,
    },
    /// A figure that cannot be.
    #[error("{benchmark} on {cores} cores: {what}; the file was damaged or written by hand")]
    Figure {
        /// The benchmark.
        benchmark: String,
        /// The number of cores.
        cores: u32,
        /// What is wrong.
        what: &'static str,
    },
}

/// What all versions have.
#[derive(Deserialize)]
struct Head {
    schema: String,
    version: u32,
}

impl Document {
    /// Reads a document, and works out anew what its samples amount to.
    ///
    /// # Errors
    /// [`DocumentError`] for what is none.
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

    /// The benchmark of that name and kind.
    #[must_use]
    pub fn outcome(&self, name: &str, kind: Kind) -> Option<&Outcome> {
        self.benchmarks.iter().find(|outcome| outcome.name == name && outcome.kind == kind)
    }
}

/// What Linux can be built for.
pub(crate) const MOST_CORES: u32 = 8192;
/// Samples of a benchmark on a number of cores. What is worked out of more has no place in a
/// floating-point number.
pub const MOST_SAMPLES: u32 = 1000;
/// Benchmarks of a document: more than there will be.
const MOST_BENCHMARKS: usize = 1000;
/// Operations per second that can be.
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
