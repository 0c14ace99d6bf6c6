//! Queueing models with exact solutions. The simulator is checked against them where their
//! assumptions hold.

/// The machine repairman. Each of `customers` thinks for `think` on average, and then queues for
/// one server, which takes `demand` on average to serve it. Both times are exponentially
/// distributed. Returns the throughput per unit of time, by exact mean value analysis.
#[must_use]
pub fn repairman(customers: u32, think: f64, demand: f64) -> f64 {
    let mut queue = 0.0;
    let mut throughput = 0.0;
    for n in 1..=customers {
        let response = demand * (1.0 + queue);
        throughput = f64::from(n) / (response + think);
        queue = throughput * response;
    }
    throughput
}

/// The Markov chain of a ticket lock by Boyd-Wickizer and others (Linux Symposium 2012). While `k`
/// cores hold the lock or wait for it, another one arrives at rate `(cores - k) / interval`, and
/// the lock is handed on at rate `1 / (section + directory · k / 2)`. Returns the speedup: `cores`
/// minus the mean number of cores that hold or wait.
#[must_use]
pub fn ticket_chain(cores: u32, interval: f64, section: f64, directory: f64) -> f64 {
    let n = f64::from(cores);
    let mut weight = 1.0;
    let (mut total, mut waiting) = (weight, 0.0);
    for k in 0..cores {
        let k = f64::from(k);
        weight *= (n - k) / interval * (section + directory * k / 2.0);
        total += weight;
        waiting += (k + 1.0) * weight;
    }
    n - waiting / total
}

#[cfg(test)]
mod tests {
    use super::{repairman, ticket_chain};

    #[test]
    fn the_ticket_chain_gives_its_published_vectors() {
        for (cores, speedup) in [(24, 22.77), (32, 24.69), (48, 8.68), (64, 6.18), (128, 3.03)] {
            let computed = ticket_chain(cores, 20_000.0, 400.0, 100.0);
            assert!((computed - speedup).abs() < 0.01, "{cores} cores: {computed}");
        }
        for (cores, speedup) in [(48, 38.8), (128, 40.0)] {
            // A queue lock hands on in constant time: section 500 and no directory term.
            let computed = ticket_chain(cores, 20_000.0, 500.0, 0.0);
            assert!((computed - speedup).abs() < 0.05, "{cores} cores: {computed}");
        }
    }

    #[test]
    fn the_repairman_obeys_its_bounds() {
        for n in 1..200 {
            let x = repairman(n, 4000.0, 400.0);
            assert!(x <= (f64::from(n) / 4400.0).min(1.0 / 400.0) + 1e-12);
        }
        assert!((repairman(1, 4000.0, 400.0) - 1.0 / 4400.0).abs() < 1e-15);
    }
}
