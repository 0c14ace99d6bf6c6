//! What is published.
//!
//! The paper's figures are lost, and only its text remains. So there are no levels of throughput.
//! What there is are the text's sentences about shapes and ratios.

use serde::Serialize;

/// What the text says of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claims {
    /// The name of the machine file that describes the machine.
    pub machine: &'static str,
    /// The machine and its kernel.
    pub title: &'static str,
    /// Up to how many threads the stock kernel's throughput grows: the ends of a range.
    pub stock_grows_to: Option<(u32, u32)>,
    /// The factor of the figures that follow.
    pub factor: u32,
    /// The numbers of threads of which the gain is known: the ends of a range.
    pub threads: (u32, u32),
    /// Throughput of sequential writes under the improved version, relative to the stock kernel: the
    /// ends of a range.
    pub finer_over_stock: (f64, f64),
    /// The largest share of an addition's time that is waiting, under the improved version.
    pub finer_lock_wait_share: f64,
    /// How the text puts the stock kernel's share with all threads.
    pub stock_lock_wait: &'static str,
    /// The factor with which the first version was fastest.
    pub first_version_peaks_at: Option<u32>,
    /// Where all that is.
    pub from: &'static str,
}

const KNL: Claims = Claims {
    machine: "knl-7210",
    title: "Intel Xeon Phi 7210, Linux 5.18.11",
    stock_grows_to: Some((32, 64)),
    factor: 256,
    threads: (64, 256),
    finer_over_stock: (1.7, 2.4),
    finer_lock_wait_share: 0.20,
    stock_lock_wait: "most of it",
    first_version_peaks_at: Some(8),
    from: "E.-K. Byun and others 2023, sections 2.1, 2.3 and 3.1",
};

const XEON: Claims = Claims {
    machine: "xeon-gold-6338-1s",
    title: "Intel Xeon Gold 6338, Linux 5.18.11",
    stock_grows_to: None,
    factor: 64,
    threads: (64, 64),
    finer_over_stock: (2.0, 2.0),
    finer_lock_wait_share: 0.10,
    stock_lock_wait: "nearly all of it",
    first_version_peaks_at: None,
    from: "E.-K. Byun and others 2023, abstract and section 3.2; 'about' twice and 10 %",
};

/// Returns what the text says of a machine, by the name of its file.
#[must_use]
pub fn claims(machine: &str) -> Option<Claims> {
    [KNL, XEON].into_iter().find(|claims| claims.machine == machine)
}
