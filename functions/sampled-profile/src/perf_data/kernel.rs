//! Names addresses of the kernel that was recorded.
//!
//! The symbols come from the running kernel if it is the same build. Otherwise they come from
//! perf's own copy, or else from a file that the user gave. A kernel of the same build is loaded at
//! another address after every boot. The recording tells where `_text` was, and addresses are
//! shifted by the difference. Modules do not move by the same difference, so after another boot
//! their code has no names.

use std::collections::BTreeMap;

use kilocore_symbols::{BuildId, KernelSymbols};

use super::error::PerfDataError;
use super::features::Features;
use super::options::Options;

/// The address of a landmark symbol (`_text`) in the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Landmark {
    name: String,
    address: u64,
}

/// What the records tell about the kernel.
#[derive(Debug, Default)]
pub(super) struct KernelMap {
    landmark: Option<Landmark>,
    /// Modules: the end and the name of each, by start.
    modules: BTreeMap<u64, (u64, String)>,
    /// Code that was loaded while recording: the end and the name of each, by start.
    loaded: BTreeMap<u64, (u64, String)>,
}

impl KernelMap {
    /// The name of the kernel itself in profiles.
    pub(super) const KERNEL: &'static str = "[kernel.kallsyms]";
    /// The name in profiles of BPF programs, which were loaded into the kernel.
    const LOADED: &'static str = "[bpf]";

    /// Notes a mapping of the kernel: that of all its text, or of a module.
    pub(super) fn map(&mut self, path: &str, start: u64, end: u64, offset: u64) {
        if let Some(name) = path.strip_prefix(Self::KERNEL) {
            if !name.is_empty() && self.landmark.is_none() {
                self.landmark = Some(Landmark { name: name.to_owned(), address: offset });
            }
        } else if !path.is_empty() && start < end {
            let file = path.rsplit('/').next().unwrap_or(path);
            let name = file.split(".ko").next().unwrap_or(file).trim_matches(['[', ']']);
            // Symbol tables write an underscore where a module's file name may have a dash.
            self.modules.insert(start, (end, name.replace('-', "_")));
        }
    }

    /// Notes a piece of code that was loaded.
    pub(super) fn load(&mut self, name: &str, start: u64, size: u32) {
        self.loaded.insert(start, (start.saturating_add(size.into()), name.to_owned()));
    }

    fn within(map: &BTreeMap<u64, (u64, String)>, address: u64) -> Option<&str> {
        let (_, (end, name)) = map.range(..=address).next_back()?;
        (address < *end).then_some(name)
    }
}

/// Names for addresses of a kernel.
#[derive(Debug)]
pub(super) struct KernelNames {
    map: KernelMap,
    symbols: Result<KernelSymbols, String>,
    /// What is added to an address of the symbol table to get the address in the recording.
    shift: u64,
}

impl KernelNames {
    /// Finds the names for a recording. Without `has_kernel`, none are needed.
    pub(super) fn new(
        map: KernelMap,
        features: &Features,
        options: &Options,
        has_kernel: bool,
    ) -> Result<Self, PerfDataError> {
        let symbols = match &options.kallsyms {
            Some(path) => Ok(KernelSymbols::read(path)?),
            None if has_kernel => find(features, options),
            // Reading the hundred thousand symbols of a kernel takes a while.
            None => Err("nobody asked for them".to_owned()),
        };
        let shift = |symbols: &KernelSymbols| {
            let landmark = map.landmark.as_ref()?;
            Some(landmark.address.wrapping_sub(symbols.landmark(&landmark.name)?))
        };
        let shift = symbols.as_ref().ok().and_then(shift).unwrap_or(0);
        Ok(Self { map, symbols, shift })
    }

    /// Returns the function at an address, if it is known, and the part of the kernel (such as a
    /// module).
    pub(super) fn name(&self, address: u64) -> (Option<String>, String) {
        if let Some(name) = KernelMap::within(&self.map.loaded, address) {
            return (Some(name.to_owned()), KernelMap::LOADED.to_owned());
        }
        let bracketed = |module: &str| format!("[{module}]");
        let symbols = self.symbols.as_ref().ok();
        if let Some(module) = KernelMap::within(&self.map.modules, address) {
            let symbol = symbols.filter(|_| self.shift == 0);
            let symbol = symbol.and_then(|symbols| symbols.function(address));
            let symbol = symbol.filter(|symbol| symbol.module == Some(module));
            return (symbol.map(|symbol| symbol.name.to_owned()), bracketed(module));
        }
        let address = address.wrapping_sub(self.shift);
        let symbol = symbols.and_then(|symbols| symbols.function(address));
        let symbol = symbol.filter(|symbol| self.shift == 0 || symbol.module.is_none());
        let module = symbol.and_then(|symbol| symbol.module).map(bracketed);
        let object = module.unwrap_or_else(|| KernelMap::KERNEL.to_owned());
        (symbol.map(|symbol| symbol.name.to_owned()), object)
    }

    /// Why code in this part of the kernel has no name, if there is a reason.
    pub(super) fn why_not(&self, object: &str) -> Option<String> {
        match &self.symbols {
            Err(why) => Some(why.clone()),
            Ok(_) if self.shift != 0 && object != KernelMap::KERNEL => {
                Some("the kernel was booted anew since, with its modules elsewhere".to_owned())
            }
            Ok(_) => None,
        }
    }
}

/// The symbols of the kernel that was recorded, or why there are none.
fn find(features: &Features, options: &Options) -> Result<KernelSymbols, String> {
    const MEND: &str = "give a copy of that kernel's /proc/kallsyms, or its System.map";
    let recorded = features.kernel_build_id();
    let mut why = match recorded {
        Some(id) => format!("this host runs another kernel than was recorded (build {id}); {MEND}"),
        None => format!("nothing says that this host runs the kernel that was recorded; {MEND}"),
    };
    if is_this_kernel(features, recorded) {
        match KernelSymbols::of_this_host() {
            Ok(symbols) => return Ok(symbols),
            Err(error) => why = error.to_string(),
        }
    }
    let copy = recorded.and_then(|id| options.debug_files.kallsyms(id));
    copy.and_then(|path| KernelSymbols::read(&path).ok()).ok_or(why)
}

/// Whether the kernel that was recorded is the one that runs here.
fn is_this_kernel(features: &Features, recorded: Option<&BuildId>) -> bool {
    match recorded {
        Some(id) => BuildId::of_this_kernel().as_ref() == Some(id),
        None => is_this_host(features),
    }
}

/// Whether the recording is from this host, under the release of the kernel that runs now.
pub(super) fn is_this_host(features: &Features) -> bool {
    let own = |file: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{file}")).ok()?;
        Some(text.trim().to_owned())
    };
    features.release.is_some()
        && features.release == own("osrelease")
        && features.host == own("hostname")
}
