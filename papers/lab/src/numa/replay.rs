//! The references of a real program, as a stream, under several policies at once.

use kilocore_placement::{OptionsError, Outcome, Rule, Setting, Streamed, StreamedError};
use kilocore_platform::Cycles;
use kilocore_references::Event;
use thiserror::Error;

use super::sweep::delayed;

/// The policies, each with a memory of its own, that take references as they come.
#[derive(Debug)]
pub struct Replay {
    setting: Setting,
    /// The policies, with their delays.
    policies: Vec<(Rule, u32)>,
    streamed: Streamed,
}

/// Why a stream cannot be simulated.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// There is no such machine.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// There are no pages of that size in streams.
    #[error(transparent)]
    Streamed(#[from] StreamedError),
}

impl Replay {
    /// Nothing was referred to yet.
    ///
    /// # Errors
    /// [`ReplayError`] if the setting makes no sense.
    pub fn new(setting: &Setting, rules: &[Rule], delays: &[u32]) -> Result<Self, ReplayError> {
        let mut setting = setting.clone();
        // Threads of a stream have clocks of their own, so that one that is ahead would queue behind
        // references that come later.
        setting.options.costs.service = Cycles(0);
        let policies = delayed(rules, delays);
        let memories = policies.iter().map(|&(rule, delay)| setting.memory(rule, delay));
        let memories = memories.collect::<Result<Vec<_>, OptionsError>>()?;
        let streamed = Streamed::new(memories, setting.page)?;
        Ok(Self { setting, policies, streamed })
    }

    /// What is simulated, which is not quite what was asked for: memories have no queues.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// How many threads there were so far.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.streamed.threads()
    }

    /// Takes the next event of the stream.
    pub fn take(&mut self, event: &Event) {
        self.streamed.take(event);
    }

    /// What each policy has come to.
    #[must_use]
    pub fn outcomes(&self) -> Vec<Outcome> {
        let memories = self.streamed.memories().zip(&self.policies);
        memories.map(|(memory, &(rule, delay))| Outcome::of(memory, rule, delay)).collect()
    }
}
