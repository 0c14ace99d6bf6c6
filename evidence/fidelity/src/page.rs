//! The page `docs/evidence/fidelity.md`.

use std::path::Path;

use askama::Template;
use kilocore_show::{markdown, number};

use crate::bars::Bar;
use crate::data::{DataSet, MACHINES};
use crate::notes::Notes;
use crate::profiles::{FromProfiles, MARK};
use crate::run::Answer;
use crate::split::{PREFERENCE, Setting};
use crate::summary::{self, Group, Summary};
use crate::{plots, score, tables};

/// What the page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// The published measurements, one set for each machine.
    pub sets: &'a [DataSet],
    /// Each program of them in each setting.
    pub answers: &'a [Answer],
    /// What a person says of it.
    pub notes: &'a Notes,
    /// The section on forecasts from profiles, if there is one.
    pub profiles: Option<&'a FromProfiles>,
    /// The seed of all simulations.
    pub seed: u64,
}

/// A file of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path in the folder of the page.
    pub path: String,
    /// Its whole content: Markdown or SVG.
    pub text: String,
}

/// The folder of the plots, in that of the page.
pub const PLOTS: &str = "fidelity";
/// How many programs are listed as those that are forecast worst.
const WORST: usize = 10;

struct Machine {
    name: &'static str,
    description: &'static str,
    cores_per_node: u32,
    programs: usize,
    given: [String; 2],
}

struct Plotted<'a> {
    program: &'a str,
    machine: &'a str,
    file: String,
}

struct Details {
    title: String,
    table: String,
}

#[derive(Template)]
#[template(path = "fidelity.md", escape = "none")]
struct Page<'a> {
    seed: u64,
    bars: String,
    missed: Vec<(&'a str, &'a str)>,
    summaries: String,
    noise: String,
    twins: String,
    nodes: String,
    machines: Vec<Machine>,
    preference: String,
    locks: String,
    by_lock: String,
    worst: String,
    explained: Vec<(String, &'a str)>,
    plots: Vec<Plotted<'a>>,
    profiles: Option<String>,
    details: Vec<Details>,
}

/// The page and its plots. The same contents make the same bytes.
///
/// # Errors
/// What a template says.
pub fn files(contents: Contents<'_>) -> Result<Vec<File>, askama::Error> {
    let Contents { sets, answers, notes, profiles, seed } = contents;
    let plotted = plots::selection(answers);
    let mut bars = Bar::all(answers);
    bars.extend(
        profiles
            .map(|profiles| Bar::on_verdicts(profiles.right_verdicts, profiles.constant_verdict)),
    );
    let worst = worst(answers);
    let everything: Vec<&Answer> = answers.iter().filter(|a| a.setting == Setting::A).collect();
    let noise = Summary::of(&everything, score::Method::Forecast).noise;
    let page = Page {
        seed,
        missed: missed(&bars, notes),
        bars: tables::bars(&bars),
        summaries: tables::summaries(answers),
        noise: number::percent(noise.unwrap_or(f64::NAN)),
        twins: number::percent(summary::twins_apart(&everything).unwrap_or(f64::NAN)),
        nodes: tables::nodes(answers),
        machines: sets.iter().map(machine).collect(),
        preference: PREFERENCE.map(|name| format!("`{name}`")).join(", "),
        locks: tables::locks(sets),
        by_lock: tables::by_lock(answers),
        worst: tables::worst(&worst),
        explained: worst.iter().filter_map(|a| Some((name(a), notes.on(a)?))).collect(),
        plots: plotted.iter().map(|a| plot(a)).collect(),
        profiles: profiles.map(|from| markdown::marked(MARK, &from.section)),
        details: details(answers),
    };
    let mut files = vec![File { path: "fidelity.md".to_owned(), text: page.render()? }];
    for answer in plotted {
        let path = format!("{PLOTS}/{}", plots::file_name(answer));
        files.push(File { path, text: plots::svg(answer, seed)? + "\n" });
    }
    Ok(files)
}

/// Writes the files of a page into its folder; plots that are no longer on it go.
///
/// # Errors
/// What the system says.
pub fn write(folder: &Path, files: &[File]) -> std::io::Result<()> {
    let plots = folder.join(PLOTS);
    std::fs::create_dir_all(&plots)?;
    for file in files {
        kilocore_show::write_whole(&folder.join(&file.path), &file.text)?;
    }
    for entry in std::fs::read_dir(&plots)? {
        let path = entry?.path();
        let kept = files.iter().any(|file| folder.join(&file.path) == path);
        if !kept && path.extension().is_some_and(|ending| ending == "svg") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn missed<'a>(bars: &[Bar], notes: &'a Notes) -> Vec<(&'static str, &'a str)> {
    let missed = bars.iter().filter(|bar| bar.missed());
    missed.filter_map(|bar| Some((bar.key, notes.on_bar(bar.key)?))).collect()
}

fn machine(set: &DataSet) -> Machine {
    let given = |setting: Setting| {
        let nodes: Vec<String> =
            setting.given_nodes(set.machine).iter().map(u32::to_string).collect();
        nodes.join(", ")
    };
    Machine {
        name: set.machine.name,
        description: set.machine.description,
        cores_per_node: set.machine.cores_per_node,
        programs: set.programs.len(),
        given: Setting::ALL.map(given),
    }
}

/// The programs that are forecast worst in setting A, those without a forecast first.
fn worst(answers: &[Answer]) -> Vec<&Answer> {
    let mut worst: Vec<(f64, &Answer)> = answers
        .iter()
        .filter(|a| a.setting == Setting::A)
        .map(|a| (Summary::of(&[a], score::Method::Forecast).level.unwrap_or(f64::INFINITY), a))
        .collect();
    // The order of the answers decides between equals, as the sort is stable.
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    worst.into_iter().take(WORST).map(|(_, answer)| answer).collect()
}

fn name(answer: &Answer) -> String {
    format!("{} on {}", answer.program, answer.machine.name)
}

fn plot<'a>(answer: &'a Answer) -> Plotted<'a> {
    Plotted {
        program: &answer.program,
        machine: answer.machine.name,
        file: format!("{PLOTS}/{}", plots::file_name(answer)),
    }
}

fn details(answers: &[Answer]) -> Vec<Details> {
    let mut details = Vec::new();
    for setting in Setting::ALL {
        for machine in MACHINES {
            let of = |a: &&Answer| a.setting == setting && a.machine == machine;
            let chosen: Vec<&Answer> = answers.iter().filter(of).collect();
            if chosen.is_empty() {
                continue;
            }
            let sensitive = chosen.iter().filter(|a| Group::Sensitive.has(a)).count();
            details.push(Details {
                title: format!(
                    "Setting {}, {}: {} programs, {sensitive} of them sensitive",
                    setting.name(),
                    machine.name,
                    chosen.len()
                ),
                table: tables::programs(&chosen),
            });
        }
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MACHINES;
    use crate::profiles::Kept;
    use crate::run::{Forecaster, answer};
    use crate::sample::{self, Oracle, Silent};
    use crate::summary::Share;

    fn made_up(forecaster: &dyn Forecaster) -> Vec<File> {
        let programs = ["odd|name", "p", "q_r"].map(sample::collapsing).to_vec();
        let sets = MACHINES.map(|machine| DataSet { machine, programs: programs.clone() });
        let mut answers = Vec::new();
        for set in &sets {
            for setting in Setting::ALL {
                for program in &set.programs {
                    answers.push(answer(setting, set.machine, program, forecaster, &|_, _| {}));
                }
            }
        }
        let notes: Notes = Notes::sample("A48", "p", "Its waiters sleep.");
        let profiles = FromProfiles {
            section: "Profiles were forecast.".to_owned(),
            right_verdicts: Share { having: 1, of: 2 },
            constant_verdict: ("scales", Share { having: 1, of: 2 }),
            kept: Kept::default(),
        };
        let profiles = Some(&profiles);
        files(Contents { sets: &sets, answers: &answers, notes: &notes, profiles, seed: 1 })
            .expect("the templates fit")
    }

    #[test]
    fn the_same_contents_make_the_same_bytes() {
        assert_eq!(made_up(&Oracle(1.1)), made_up(&Oracle(1.1)));
    }

    #[test]
    fn the_page_shows_bars_notes_plots_and_sections() {
        let files = made_up(&Oracle(1.3));
        let page = &files[0].text;
        assert!(page.contains("* **p on A48:** Its waiters sleep."), "{page}");
        let section =
            "<!-- setting-c -->\nProfiles were forecast.\n<!-- end -->\n\n## Every program\n";
        assert!(page.contains(section), "{page}");
        assert!(page.contains("50 % ('scales')"), "the constant answer's score");
        assert!(page.contains("odd\\|name"));
        assert!(page.contains("**no**"), "an error of 30 % misses a bar of 20 %");
        assert_eq!(files.len(), 1 + 2 * 3);
        for file in &files[1..] {
            assert!(page.contains(&file.path), "{}", file.path);
        }
        let widths = |line: &&str| line.starts_with('|');
        for line in page.lines().filter(widths) {
            assert!(line.ends_with('|'), "{line}");
        }
    }

    #[test]
    fn every_row_of_a_table_has_the_cells_of_its_header() {
        let files = made_up(&Oracle(1.0));
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut header = None;
        for line in files[0].text.lines() {
            if line.starts_with('|') {
                assert_eq!(cells(line), *header.get_or_insert(cells(line)), "{line}");
            } else {
                header = None;
            }
        }
    }

    #[test]
    fn plots_of_an_older_page_go() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let files = made_up(&Oracle(1.0));
        std::fs::create_dir(folder.path().join(PLOTS)).expect("the folder is writable");
        let old = folder.path().join(PLOTS).join("A48-gone.svg");
        std::fs::write(&old, "").expect("the folder is writable");
        write(folder.path(), &files).expect("the folder is writable");
        assert!(!old.exists());
        for file in &files {
            let written = std::fs::read_to_string(folder.path().join(&file.path));
            assert_eq!(written.expect("it was written"), file.text);
        }
    }

    #[test]
    fn a_page_without_any_forecast_says_so() {
        let files = made_up(&Silent);
        assert_eq!(files.len(), 1);
        assert!(files[0].text.contains("refused: too few points"));
    }
}
