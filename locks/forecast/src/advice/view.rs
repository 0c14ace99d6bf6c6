//! What was seen of a profiled program, and what that keeps from being said of it.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Host, Profile, Rights, Run, UnlikeCores, Watching};

use super::answer::{answer, not_seen, unknown};
use crate::evidence::Lack;
use crate::from_profile::Conduct;
use crate::surroundings::{cores_lost, held_up, host_was_busy};
use crate::words::{counted, duration, percent};
use crate::{Coverage, Evidence, Recommendation, Verdict};

/// How much is known of a program, whatever is forecast.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) coverage: Coverage,
    /// How it was watched, in a sentence, if it was.
    watched: Option<String>,
    /// The cores that were turned off, or are slower than others, a sentence each.
    cores: Vec<String>,
    /// What the kernel's locks keep from being said.
    in_kernel: Option<String>,
}

impl<'a> View<'a> {
    /// Of the first run of a profile.
    pub(crate) fn of(profile: &'a Profile) -> Self {
        let Some(run) = profile.runs.first() else {
            return Self {
                profile,
                evidence: None,
                coverage: Coverage::default(),
                watched: None,
                cores: Vec::new(),
                in_kernel: None,
            };
        };
        let evidence = Evidence::of(run);
        let coverage = Coverage::of(profile, run, &evidence);
        let watched = run.watching.as_ref().map(|watching| watched(watching, run.wall_time));
        // What is large is said first, and not as something to mind.
        let large = super::kernel_locks::large(profile).is_some();
        let in_kernel = super::kernel_locks::gap(run).filter(|_| !large);
        let cores = about_cores(&profile.host);
        Self { profile, evidence: Some(evidence), coverage, watched, cores, in_kernel }
    }

    /// The run that was seen.
    pub(super) fn run(&self) -> Option<&'a Run> {
        self.profile.runs.first()
    }

    /// The share of the threads' time that they waited on conditions. Barriers are left out.
    pub(super) fn on_conditions(&self, conduct: &Conduct) -> f64 {
        match &self.coverage.sleep {
            Some(sleep) if sleep.threads > 0.0 => {
                let all = sleep.threads / sleep.share;
                (conduct.threads_on_conditions / all).min(sleep.share)
            }
            // Nobody was seen asleep, so the threads waited no longer than the recorder has them asleep.
            Some(sleep) => conduct.condition_share.min(sleep.recorded.max(0.0)),
            None => conduct.condition_share,
        }
    }

    /// What was not seen, a sentence each.
    pub(super) fn gaps(&self) -> Vec<String> {
        let gaps = self.evidence.iter().flat_map(|evidence| self.coverage.gaps(evidence));
        self.in_kernel.clone().into_iter().chain(gaps).collect()
    }

    /// What keeps it from any verdict on the locks that were seen: a quota that held it up, cores that went, or
    /// too little of something.
    pub(crate) fn withheld(&self) -> Option<Recommendation> {
        let Some((run, evidence)) = self.run().zip(self.evidence.as_ref()) else {
            return Some(answer(
                Verdict::TooLittleEvidence,
                "the profile holds no run",
                Vec::new(),
            ));
        };
        let shut_out =
            super::watched::too_short(run).or_else(|| held_up(run)).or_else(|| cores_lost(run));
        let answer = shut_out
            .map(|reason| unknown(vec![reason]))
            .or_else(|| super::only_waits::answer(run, evidence.busy_cores))
            .or_else(|| Some(self.lacking(evidence, evidence.lack()?)))?;
        Some(Recommendation { confidence: self.seen(), ..answer })
    }

    /// What keeps it from a verdict although it can be forecast: a host that was busy. Curves are drawn all
    /// the same, for who wants them.
    pub(crate) fn disturbed(&self) -> Option<Recommendation> {
        let (run, evidence) = self.run().zip(self.evidence.as_ref())?;
        let mut answer = unknown(vec![host_was_busy(run, evidence.busy_cores)?]);
        answer.text.push(
            "What was recorded has in it what the others did: a thread that lost its core while it had a \
             lock made all others wait, and so do the curves."
                .to_owned(),
        );
        Some(Recommendation { confidence: self.seen(), ..answer })
    }

    /// The answer for a run that showed too little of something.
    fn lacking(&self, evidence: &Evidence, lack: Lack) -> Recommendation {
        let by_times = (lack == Lack::Acquisitions).then(|| {
            super::watched::answer_by_times(self.profile).or_else(|| self.in_kernel_of_busy_host())
        });
        by_times.flatten().unwrap_or_else(|| {
            let gaps = self.gaps();
            if lack == Lack::Acquisitions && !gaps.is_empty() {
                return unknown(gaps);
            }
            let mend = [lack.mend().to_owned()].into_iter();
            let text = mend.chain(gaps.iter().map(|gap| not_seen(gap))).collect();
            answer(Verdict::TooLittleEvidence, &lack.words(evidence), text)
        })
    }

    /// The answer if threads wait for locks of the kernel, and the host was busy.
    fn in_kernel_of_busy_host(&self) -> Option<Recommendation> {
        let (run, evidence) = self.run().zip(self.evidence.as_ref())?;
        let gap = self.in_kernel.as_ref()?;
        let busy = host_was_busy(run, evidence.busy_cores)?;
        Some(unknown(vec![busy, gap.clone()]))
    }

    /// The answer if no lock was seen that a forecast could be of.
    pub(crate) fn without_locks(&self) -> Recommendation {
        let by_times = super::watched::answer_by_times(self.profile);
        let answer = by_times.unwrap_or_else(|| {
            let mut gaps = self.gaps();
            if gaps.is_empty() {
                let seen =
                    |run| super::watched::contended(run).or_else(|| super::only_waits::gap(run));
                gaps.extend(self.run().and_then(seen));
            }
            unknown(gaps)
        });
        Recommendation { confidence: self.seen(), ..answer }
    }

    /// What was seen, in two sentences or three.
    pub(super) fn seen(&self) -> String {
        let evidence = self.evidence.as_ref().map(Evidence::sentence);
        let sentences: Vec<String> = self
            .watched
            .iter()
            .cloned()
            .chain(evidence)
            .chain(self.cores.iter().cloned())
            .chain([self.coverage.sentence()])
            .collect();
        sentences.join(" ")
    }
}

/// What is to be known of the cores of a host.
fn about_cores(host: &Host) -> Vec<String> {
    let offline = host.offline.as_ref().map(|cores| {
        format!("Cores {cores} of the machine were turned off, so that nothing ran there.")
    });
    let slowest = UnlikeCores::of(&host.hardware_threads).slowest;
    let slower = slowest.map(|speed| {
        format!(
            "Some of its cores are slower than others, down to {} of the speed of the fastest.",
            percent(speed)
        )
    });
    offline.into_iter().chain(slower).collect()
}

/// How a program was watched.
fn watched(watching: &Watching, wall_time: Nanoseconds<f64>) -> String {
    let watched = if watching.beside_library {
        "Pthread locks were recorded by a library under the program, in full. All others were watched"
    } else {
        "Watched"
    };
    let cost = percent(watching.cost_share);
    let cost = if cost.starts_with("less") { cost } else { format!("about {cost}") };
    let mut text = format!(
        "{watched} from outside in {} of {} together, out of {}; that cost {} of the cores' \
         time. Locks that no thread waited for in a window are not seen.",
        counted(watching.windows, "window"),
        duration(watching.window_time),
        duration(wall_time),
        cost
    );
    text.push_str(match watching.rights {
        Rights::WholeCores => "",
        Rights::OwnThreads => " Watched as an ordinary user, thread by thread.",
        Rights::OwnThreadsInUserSpace => {
            " Watched as an ordinary user, from whom the kernel hides why threads sleep: waits are \
             known from windows in which no word was watched."
        }
    });
    if let Some(share) = watching.followed_share.filter(|share| *share < 0.995) {
        text.push_str(&format!(
            " Of the threads, {} were followed; the others were looked at once a window.",
            percent(share)
        ));
    }
    if let Some(refused) = &watching.refused {
        text.push_str(&format!(" No word of memory could be watched: {refused}."));
    }
    if !watching.left_out.is_empty() {
        text.push_str(&format!(" Left out: {}.", watching.left_out.join("; ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_ordinary_user_could_not_see_is_said() {
        let told = |rights, followed_share| {
            watched(&Watching { rights, followed_share, ..Watching::default() }, Nanoseconds(1e9))
        };
        assert!(!told(Rights::WholeCores, None).contains("ordinary user"));
        assert!(told(Rights::OwnThreads, Some(1.0)).ends_with("ordinary user, thread by thread."));
        let hidden = told(Rights::OwnThreadsInUserSpace, Some(0.25));
        assert!(hidden.contains("the kernel hides why threads sleep"), "{hidden}");
        assert!(hidden.contains("25 % were followed"), "{hidden}");
        let left_out = vec!["process 7 runs 32-bit code".to_owned(), "another".to_owned()];
        let told = watched(&Watching { left_out, ..Watching::default() }, Nanoseconds(1e9));
        assert!(told.ends_with(" Left out: process 7 runs 32-bit code; another."), "{told}");
    }
}
