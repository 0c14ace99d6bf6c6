//! The properties of the host that may change a figure, as far as the system tells them.

use std::fs;

use kilocore_linux::{Quota, offline_cores};
use serde::{Deserialize, Serialize};

use crate::cpus::Cpus;

/// The host on which a run was measured. What the system does not tell is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The model name that the processor reports.
    pub processor: String,
    /// How many processors the measuring program could use.
    pub cpus: u32,
    /// What control groups allow of these processors' time, such as a container's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The processors that are turned off, as in `2-3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<String>,
    /// How many NUMA nodes they are on.
    pub nodes: u32,
    /// The kernel's name, release and version.
    pub kernel: String,
    /// The frequency governor, such as `performance` or `schedutil`.
    pub governor: Option<String>,
    /// Whether processors may run faster than their nominal frequency.
    pub turbo: Option<bool>,
    /// Whether cores run several hardware threads.
    pub smt: Option<bool>,
    /// How addresses are randomized: 0 is not at all, 1 is all but the heap, 2 is fully.
    pub aslr: Option<u32>,
    /// The hypervisor that the host runs on, if there is one.
    pub hypervisor: Option<String>,
    /// The flaws of the processor, each with what the kernel does against it.
    pub mitigations: Vec<(String, String)>,
    /// The size of a page in bytes.
    pub page_bytes: u32,
    /// When anonymous memory gets huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// The size of the memory in MiB.
    pub memory_mib: u64,
    /// The load average of the minute before: how many tasks ran or were ready to.
    pub load: Option<f64>,
    /// The kernel's command line, which may change any of the above.
    pub command_line: Option<String>,
}

/// A limit on the use of processors, and how often it held the tasks up while they were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// How many processors' time it allows.
    pub cores: f64,
    /// The periods of the limit in which tasks wanted to run.
    pub periods: u64,
    /// The periods in which they were held up.
    pub throttled: u64,
}

impl Environment {
    /// Returns the properties that this host has now.
    #[must_use]
    pub fn now(cpus: &Cpus) -> Self {
        let cpu = "/sys/devices/system/cpu";
        Self {
            processor: processor(),
            cpus: cpus.count(),
            limit: Quota::of(std::process::id())
                .map(|quota| Limit { cores: quota.cores, ..Limit::default() }),
            offline: offline_cores(),
            nodes: cpus.nodes(),
            kernel: kernel(),
            governor: line(&format!("{cpu}/cpu0/cpufreq/scaling_governor")),
            turbo: turbo(cpu),
            smt: line(&format!("{cpu}/smt/active")).map(|active| active == "1"),
            aslr: line("/proc/sys/kernel/randomize_va_space").and_then(|text| text.parse().ok()),
            hypervisor: hypervisor(),
            mitigations: mitigations(cpu),
            page_bytes: page_bytes() as u32,
            huge_pages: line("/sys/kernel/mm/transparent_hugepage/enabled")
                .as_deref()
                .and_then(chosen),
            memory_mib: memory_mib(),
            load: line("/proc/loadavg").as_deref().and_then(first_number),
            command_line: line("/proc/cmdline"),
        }
    }

    /// Returns the rows of a table: what each property is called, and its value in words.
    #[must_use]
    pub fn in_rows(&self) -> Vec<(&'static str, String)> {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "not told".to_owned());
        let switch = |on: Option<bool>| match on {
            Some(true) => "on".to_owned(),
            Some(false) => "off".to_owned(),
            None => "not told".to_owned(),
        };
        let number = |number: Option<String>| number.unwrap_or_else(|| "not told".to_owned());
        let mitigations = self.mitigations.iter().filter(|(_, state)| state != "Not affected");
        let mitigations: Vec<String> =
            mitigations.map(|(flaw, state)| format!("{flaw}: {state}")).collect();
        vec![
            ("processor", self.processor.clone()),
            ("processors in use", format!("{} on {} nodes", self.cpus, self.nodes)),
            (
                "limit of the control group",
                self.limit.map_or_else(
                    || "none seen".to_owned(),
                    |limit| format!("the time of {:.2} processors", limit.cores),
                ),
            ),
            ("processors turned off", self.offline.clone().unwrap_or_else(|| "none".to_owned())),
            ("kernel", self.kernel.clone()),
            ("hypervisor", self.hypervisor.clone().unwrap_or_else(|| "none seen".to_owned())),
            ("frequency governor", word(&self.governor)),
            ("turbo", switch(self.turbo)),
            ("simultaneous multithreading", switch(self.smt)),
            ("address randomization", number(self.aslr.map(|level| level.to_string()))),
            ("page", format!("{} bytes, huge pages: {}", self.page_bytes, word(&self.huge_pages))),
            ("memory", format!("{} MiB", self.memory_mib)),
            ("load before", number(self.load.map(|load| load.to_string()))),
            ("mitigations", mitigations.join("; ")),
        ]
    }
}

/// Returns the first line of a file, trimmed, or `None` if the file cannot be read.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Returns the word in brackets, which is `madvise` for the text `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, after) = text.split_once('[')?;
    after.split_once(']').map(|(word, _)| word.to_owned())
}

/// Returns the first number of a line, which is 0.52 for the line `0.52 0.58 1/200 3`.
fn first_number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// Reads the processor's name from `/proc/cpuinfo`, in which a line is like this:
///
/// ```text
/// model name      : Intel(R) Xeon(R) CPU @ 2.20GHz
/// ```
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |key: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
    };
    named("model name").unwrap_or_else(|| "unknown".to_owned())
}

fn kernel() -> String {
    let of = |file: &str| line(&format!("/proc/sys/kernel/{file}")).unwrap_or_default();
    format!("{} {} {}", of("ostype"), of("osrelease"), of("version")).trim().to_owned()
}

fn turbo(cpu: &str) -> Option<bool> {
    let intel = line(&format!("{cpu}/intel_pstate/no_turbo")).map(|off| off == "0");
    intel.or_else(|| line(&format!("{cpu}/cpufreq/boost")).map(|on| on == "1"))
}

fn hypervisor() -> Option<String> {
    let flags = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut flags = flags.lines().filter(|line| line.starts_with("flags"));
    let below = flags.next()?.split_whitespace().any(|flag| flag == "hypervisor");
    let product = || line("/sys/class/dmi/id/product_name").filter(|name| !name.is_empty());
    let kind = || line("/sys/hypervisor/type").filter(|name| !name.is_empty());
    below.then(|| kind().or_else(product).unwrap_or_else(|| "one without a name".to_owned()))
}

fn mitigations(cpu: &str) -> Vec<(String, String)> {
    let Ok(folder) = fs::read_dir(format!("{cpu}/vulnerabilities")) else { return Vec::new() };
    let mut found: Vec<(String, String)> = folder
        .filter_map(Result::ok)
        .filter_map(|file| {
            let state = line(&file.path().to_string_lossy())?;
            Some((file.file_name().to_string_lossy().into_owned(), state))
        })
        .collect();
    found.sort();
    found
}

/// Reads the memory's size from `/proc/meminfo`, in which a line is like this:
///
/// ```text
/// MemTotal:       16314352 kB
/// ```
fn memory_mib() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}

/// Returns the size of a page in bytes.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: touches no memory.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_tells_what_every_linux_tells() {
        let environment = Environment::now(&Cpus::of_this_process());
        assert!(environment.kernel.starts_with("Linux "), "{environment:?}");
        assert!(environment.page_bytes >= 4096 && environment.memory_mib > 0);
        assert!(environment.cpus >= 1 && environment.aslr.is_some_and(|level| level <= 2));
        assert!(environment.in_rows().iter().all(|(name, _)| !name.is_empty()));
    }

    #[test]
    fn the_word_in_brackets_is_chosen() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always"), None);
        assert_eq!(first_number("0.52 0.58 1/200 3"), Some(0.52));
    }
}
