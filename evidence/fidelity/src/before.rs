//! The errors of an earlier run, to see what a change has done.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kilocore_figures::median;
use serde::Deserialize;

use crate::run::Answer;

/// A setting, a machine and a program.
type Key = (String, String, String);

/// Errors by program, from what [`crate::dump`] wrote; empty if there is no earlier run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Before(BTreeMap<Key, Vec<f64>>);

#[derive(Debug, Deserialize)]
struct HeldBack {
    setting: String,
    machine: String,
    program: String,
    measured: f64,
    throughput: f64,
}

impl Before {
    /// Reads the points of an earlier run.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn read(file: &Path) -> Result<Self, String> {
        let wrong = |what: String| {
            format!("{}: {what}; it must be a file that --json has written", file.display())
        };
        let text = fs::read_to_string(file).map_err(|e| wrong(e.to_string()))?;
        let points: Vec<HeldBack> =
            serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        let mut errors: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
        for point in points {
            let error = (point.throughput / point.measured - 1.0).abs();
            errors.entry((point.setting, point.machine, point.program)).or_default().push(error);
        }
        Ok(Self(errors))
    }

    /// The median error over all held-back points that some answers had then.
    #[must_use]
    pub fn level(&self, answers: &[&Answer]) -> Option<f64> {
        let key = |a: &&Answer| {
            (a.setting.name().to_owned(), a.machine.name.to_owned(), a.program.clone())
        };
        let errors = answers.iter().filter_map(|a| self.0.get(&key(a))).flatten();
        median(errors.copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::held_back;
    use crate::run::answer;
    use crate::sample::{self, MACHINE, Oracle};
    use crate::split::Setting;

    #[test]
    fn what_was_dumped_is_read_again() {
        let program = sample::collapsing("p");
        let answer = |factor| answer(Setting::A, MACHINE, &program, &Oracle(factor), &|_, _| {});
        let folder = tempfile::tempdir().expect("a folder for the test");
        let file = folder.path().join("points.json");
        let dumped = serde_json::to_string(&held_back(&[answer(1.5)])).expect("it is data");
        fs::write(&file, dumped).expect("the folder is writable");
        let before = Before::read(&file).expect("it was dumped");
        assert_eq!(before.level(&[&answer(1.0)]), Some(0.5));
        assert_eq!(Before::default().level(&[&answer(1.0)]), None);
        fs::write(&file, "[{}]").expect("the folder is writable");
        assert!(Before::read(&file).expect_err("nothing is in it").contains("--json"));
    }
}
