//! What counts as work in a timed run, and counting it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use kilocore_lock_profile::{ENOUGH_SECTIONS, SECTION, WhyNotTimed};
use kilocore_process::work::{Counter, Rule};
use kilocore_process::{Observer, obstacle_of_command};

use crate::preload::measuring;
use crate::recordings::{Recordings, sections};
use crate::sees::unseen_by_preload;

/// What counts as a unit of work in a timed run.
#[derive(Debug, Clone)]
pub enum TimedWork {
    /// A run, or what the program says that it did.
    Rule(Rule),
    /// Each time that the program takes a pthread lock. The library at this path, `libkilocore_measure.so`, counts that
    /// under it, in all its processes.
    Sections(PathBuf),
}

impl TimedWork {
    /// What a unit is called.
    pub(crate) fn unit(&self) -> &str {
        match self {
            Self::Rule(rule) => rule.unit(),
            Self::Sections(_) => SECTION,
        }
    }

    /// Whether it is counted in what the program prints.
    pub(crate) fn is_printed(&self) -> bool {
        matches!(self, Self::Rule(rule) if rule.needs_output())
    }

    /// Whether what a command starts can be counted, as far as its file tells.
    pub(crate) fn can_count(&self, command: &[OsString]) -> bool {
        let unseen =
            || unseen_by_preload(command).is_some() || obstacle_of_command(command).is_some();
        !matches!(self, Self::Sections(_)) || !unseen()
    }

    /// Begins to count the work of a run.
    pub(crate) fn begin(&self) -> Result<WorkCounter<'_>, WhyNotTimed> {
        Ok(match self {
            Self::Rule(rule) => WorkCounter::Rule(rule, Box::new(Counter::new(rule.clone()))),
            Self::Sections(library) => {
                let recordings = Recordings::new().map_err(|_| WhyNotTimed::SectionsLost)?;
                WorkCounter::Sections(library, recordings)
            }
        })
    }
}

/// Counts the work of one run.
#[derive(Debug)]
pub(crate) enum WorkCounter<'a> {
    Rule(&'a Rule, Box<Counter>),
    Sections(&'a Path, Recordings),
}

impl WorkCounter<'_> {
    /// Variables that the program needs in its environment, so that its work is counted.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        match self {
            Self::Rule(..) => Vec::new(),
            Self::Sections(library, recordings) => measuring(library, recordings.path()),
        }
    }

    /// Who has to see what the program prints, if anybody.
    pub(crate) fn observer(&self) -> Option<&dyn Observer> {
        match self {
            Self::Rule(rule, counter) => rule.needs_output().then_some(&**counter as &dyn Observer),
            Self::Sections(..) => None,
        }
    }

    /// How much it was, when the program has ended.
    pub(crate) fn finish(self, status: ExitStatus) -> Result<f64, WhyNotTimed> {
        match self {
            Self::Rule(_, counter) => {
                let work = counter.finish(status).map_err(|_| WhyNotTimed::NoWork)?;
                Ok(work.count.to_f64())
            }
            Self::Sections(_, recordings) => {
                let sections = sections(recordings.path()).ok_or(WhyNotTimed::SectionsLost)?;
                if sections < ENOUGH_SECTIONS {
                    return Err(WhyNotTimed::FewSections);
                }
                Ok(sections as f64)
            }
        }
    }
}
