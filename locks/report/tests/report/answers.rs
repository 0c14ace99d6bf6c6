//! Whatever a profile holds, no answer contradicts itself.
//!
//! The answer is all that `doctor` shows: the verdict with its confidence, the curves, the program's
//! locks, what there is to know and what is assumed, and where the threads' time went; on the terminal,
//! as a page and as a document. Crates below test their own sentences. What one of them says may
//! contradict what another says, or a table.

mod made;
mod pairs;

use kilocore_forecast::{Extent, Forecast, Question, RunSize, forecast};
use kilocore_lock_profile::Profile;
use kilocore_lock_report::{ForecastReport, terminal, waits_page};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_points::PointSource;
use kilocore_show::{Generated, Report, in_json};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use scraper::{Html, Selector};

/// Everything that is said of a profile.
#[derive(Debug)]
struct Answer {
    profile: Profile,
    forecast: Forecast,
    /// On the terminal and on the page, the words one blank apart.
    texts: [String; 2],
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a page, without its style and its script.
fn text_of(page: &str) -> String {
    let page = Html::parse_document(page);
    let shown = Selector::parse("h1, h2, h3, p, li, th, td, figcaption").expect("a selector");
    let parts = page.select(&shown).map(|element| element.text().collect::<String>());
    one_line(&parts.collect::<Vec<_>>().join(" "))
}

impl Answer {
    /// The answer to a profile, composed as `doctor` composes it.
    fn to(profile: Profile, machine: &Description) -> Self {
        let locks = vec![LockId::Futex, LockId::Mcs, LockId::Malthusian];
        let size = RunSize { sections: 400, ..RunSize::default() };
        let cores = vec![1, 2, 8];
        let question = Question {
            machine,
            cores,
            locks,
            rw_locks: Vec::new(),
            size,
            extent: Extent::Needed,
            source: PointSource::unkept(),
        };
        let forecast = forecast(&profile, &question, &|| {}).expect("the machine has the cores");
        let times = profile.runs[0].checked_times();
        let mut on_terminal = terminal::forecast_table(&forecast, 200, true);
        on_terminal += &times.map_or_else(String::new, |times| terminal::times_table(&times, 200));
        let page = if !forecast.curves.is_empty() {
            let generated = Generated { by: String::new(), command: String::new(), at: None };
            let report = ForecastReport {
                generated,
                forecast: &forecast,
                machine: Some(machine),
                profile: Some(&profile),
            };
            report.html().expect("there are curves")
        } else {
            waits_page(&profile, Some(&forecast.recommendation)).unwrap_or_default()
        };
        let texts = [one_line(&on_terminal), text_of(&page)];
        Self { profile, forecast, texts }
    }

    fn contradictions(&self) -> Vec<&'static str> {
        self.texts.iter().flat_map(|text| pairs::contradictions(self, text)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        // The same profiles each time: with another seed, others are tried.
        rng_seed: RngSeed::Fixed(2),
        ..ProptestConfig::default()
    })]
    #[test]
    fn no_answer_contradicts_itself(profile in made::profile()) {
        let machine = kilocore_machine::find("core-i7-6700").expect("it is built in");
        let answer = Answer::to(profile, &machine);
        let found = answer.contradictions();
        prop_assert!(found.is_empty(), "{found:?}:\n{}\n{}", answer.texts[0], answer.texts[1]);
        let document = in_json(&answer.forecast).expect("it can be written");
        prop_assert!(!document.contains("NaN") && !document.contains("null,null"), "{document}");
    }
}
