//! What a policy did for a mix.

use serde::Serialize;

use super::contender::Contender;

/// What a policy did for a mix: means over the orders of tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Who scheduled: a policy, or the optimum.
    pub policy: Contender,
    /// The name of the mix.
    pub mix: &'static str,
    /// How many cores were used.
    pub cores: u32,
    /// The sum over tasks of the speed relative to that alone on the machine: how many cores' worth of
    /// undisturbed work was done at a time. At most the number of cores.
    pub throughput: f64,
    /// The same as a multiple of that under fair sharing.
    pub beside_fair: f64,
    /// Jain's index of the tasks' slow-downs: 1 if all suffer the same.
    pub fairness: f64,
    /// The slow-down of the task that fares worst beside fair sharing, as a multiple of its slow-down
    /// there.
    pub worst_beside_fair: f64,
    /// Energy of the sockets.
    pub joules: f64,
    /// Joules for as much work as a core does in a second undisturbed.
    pub joules_per_work: f64,
    /// What was planned beforehand, if anything: the programs of each set that shares a cache at a time.
    pub plan: Option<Vec<Vec<&'static str>>>,
    /// Each task, in the order of the mix.
    pub tasks: Vec<TaskPoint>,
}

/// What became of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskPoint {
    /// The name of the program that the task ran.
    pub program: &'static str,
    /// Its speed, beside that alone with an even share of the cores: at most about 1, or more if it had
    /// more than its share.
    pub progress: f64,
    /// The share of core time that it had, as a multiple of the even share.
    pub share: f64,
    /// Seconds for a whole run of the program.
    pub seconds_per_run: f64,
    /// Its slow-down as a multiple of that under fair sharing.
    pub beside_fair: f64,
}

/// Jain's index: the square of the sum over the number times the sum of squares.
pub(crate) fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    if squares > 0.0 { sum * sum / (values.len() as f64 * squares) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn fairness_is_one_among_equals_and_a_half_with_one_of_two_alone() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain(&[1.0, 0.0]), 0.5);
    }
}
