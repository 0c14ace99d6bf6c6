//! The answers about an address, kept: most depend on who called the function that it is in.

use crate::spin_loops::walk::Answer;

/// So many are kept. A function that was called from so many places, and never in a spin loop, is taken
/// for one that works wherever it is called.
const KEPT: usize = 8;

/// What was found out about one address.
#[derive(Debug, Default)]
pub struct Answers(Vec<Answer>);

impl Answers {
    /// The answer for what is on the stack now, of which `word` tells what is so far above the stack
    /// pointer. If there is none yet, `ask` finds it.
    pub fn now(
        &mut self,
        word: impl Fn(i64) -> Option<u64>,
        ask: impl FnOnce() -> Answer,
    ) -> &Answer {
        let holds =
            |answer: &Answer| answer.depends_on.iter().all(|(at, was)| word(*at) == Some(*was));
        if let Some(at) = self.0.iter().position(holds) {
            return &self.0[at];
        }
        if self.0.len() < KEPT {
            self.0.push(ask());
        } else if self.0.iter().any(|answer| answer.found.is_some()) {
            let works = self.0.iter().position(|answer| answer.found.is_none());
            self.0.remove(works.unwrap_or(0));
            self.0.push(ask());
        } else {
            self.0 = vec![Answer { found: None, depends_on: Vec::new() }];
        }
        let at = self.0.len() - 1;
        &self.0[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spin_loops::SpinLoop;

    fn answer(caller: u64, is_spin: bool) -> Answer {
        let spin = SpinLoop { reads: None, pauses: true, tries: false };
        Answer { found: is_spin.then_some(spin), depends_on: vec![(8, caller)] }
    }

    fn now(answers: &mut Answers, caller: u64, is_spin: bool) -> bool {
        answers.now(|_| Some(caller), || answer(caller, is_spin)).found.is_some()
    }

    #[test]
    fn an_answer_holds_for_the_caller_that_it_was_found_for() {
        let mut answers = Answers::default();
        assert!(now(&mut answers, 1, true));
        assert!(!now(&mut answers, 2, false));
        let known = answers.now(|_| Some(1), || unreachable!("it was found before"));
        assert!(known.found.is_some());
    }

    #[test]
    fn what_never_waited_is_asked_about_no_more() {
        let mut answers = Answers::default();
        for caller in 0..=KEPT as u64 {
            assert!(!now(&mut answers, caller, false));
        }
        let known = answers.now(|_| Some(99), || unreachable!("it was asked often enough"));
        assert!(known.found.is_none());
        // What waited once is asked about again.
        let mut answers = Answers::default();
        assert!(now(&mut answers, 0, true));
        for caller in 1..20 {
            assert!(!now(&mut answers, caller, false));
        }
        assert!(now(&mut answers, 0, true));
    }
}
