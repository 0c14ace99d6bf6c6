//! Turns places into functions.

use std::collections::{BTreeMap, HashMap};

use kilocore_symbols::PerfMap;

use super::error::PerfDataError;
use super::files::Files;
use super::kernel::{KernelMap, KernelNames, is_this_host};
use super::place::{CodeLocation, Index, Interned, Object};
use crate::{Function, Remark, in_file};

/// Whether code of an object was named, and if not, why.
#[derive(Debug, Default)]
struct Outcome {
    named: bool,
    why: Option<String>,
}

/// Finds the functions at addresses, in files, in the kernel and in generated code.
pub(super) struct Namer<'a> {
    files: Files<'a>,
    objects: &'a Interned<Object>,
    kernel: KernelNames,
    /// The perf maps of just-in-time compilers, by process; `None` for a process without one.
    maps: HashMap<i32, Option<PerfMap>>,
    outcomes: BTreeMap<String, Outcome>,
}

impl<'a> Namer<'a> {
    pub(super) fn new(
        files: Files<'a>,
        objects: &'a Interned<Object>,
        kernel: KernelMap,
        has_kernel: bool,
    ) -> Result<Self, PerfDataError> {
        let kernel = KernelNames::new(kernel, files.features, files.options, has_kernel)?;
        Ok(Self { files, objects, kernel, maps: HashMap::new(), outcomes: BTreeMap::new() })
    }

    /// Returns the functions at a place. There is one, or several if functions were inlined there,
    /// with the innermost first.
    pub(super) fn functions(&mut self, place: CodeLocation) -> Vec<Function> {
        let (names, object) = match place {
            CodeLocation::Kernel(address) => {
                let (name, object) = self.kernel.name(address);
                let why = self.kernel.why_not(&object);
                self.note(&object, name.is_some(), why);
                (name.into_iter().collect(), object)
            }
            CodeLocation::Object(index, at) => {
                (self.of_object(index, at), self.objects.get(index).name().to_owned())
            }
            CodeLocation::Nowhere | CodeLocation::Unknown => (Vec::new(), String::new()),
            CodeLocation::GuestKernel => (Vec::new(), "[guest.kernel.kallsyms]".to_owned()),
            CodeLocation::GuestUser => (Vec::new(), "[guest]".to_owned()),
            CodeLocation::Hypervisor => (Vec::new(), "[hypervisor]".to_owned()),
        };
        let names = if names.is_empty() { vec![Function::UNKNOWN.to_owned()] } else { names };
        let function = |name| Function { name, object: object.clone(), origin: place.origin() };
        names.into_iter().map(function).collect()
    }

    /// The names of the functions at an offset in an object, or at an address of memory.
    fn of_object(&mut self, index: Index, at: u64) -> Vec<String> {
        let object = self.objects.get(index);
        let inlined = self.files.options.inlined;
        let mut in_place = None;
        let (names, why) = match object {
            Object::Anonymous { process, .. } => self.of_generated(*process, at),
            Object::File { .. } | Object::Vdso => match self.files.open(index, object) {
                Ok(file) => {
                    in_place = in_file::in_place(&file.binary, at, object.name());
                    (in_file::names(&file.binary, at, inlined), in_file::stripped(&file.binary))
                }
                Err(why) => (Vec::new(), Some(why.clone())),
            },
        };
        self.note(object.name(), !names.is_empty(), why);
        if names.is_empty() { in_place.into_iter().collect() } else { names }
    }

    /// The name of a function that a just-in-time compiler made in a process.
    fn of_generated(&mut self, process: i32, at: u64) -> (Vec<String>, Option<String>) {
        let pid = process.cast_unsigned();
        let is_own = is_this_host(self.files.features);
        let read = || is_own.then(|| PerfMap::of_process(pid)).flatten();
        let map = self.maps.entry(process).or_insert_with(read);
        match map {
            Some(map) => (map.function(at).map(str::to_owned).into_iter().collect(), None),
            None => {
                let path = PerfMap::path(pid);
                let path = path.display();
                (Vec::new(), Some(format!("it is memory without a file, and {path} is not there")))
            }
        }
    }

    /// Notes whether a piece of an object's code has a name.
    fn note(&mut self, object: &str, named: bool, why: Option<String>) {
        let outcome = match self.outcomes.get_mut(object) {
            Some(outcome) => outcome,
            None => self.outcomes.entry(object.to_owned()).or_default(),
        };
        outcome.named |= named;
        outcome.why = outcome.why.take().or(why);
    }

    /// The objects none of whose code has a name, with the reasons.
    pub(super) fn remarks(self) -> impl Iterator<Item = Remark> {
        let unnamed = self.outcomes.into_iter().filter(|(_, outcome)| !outcome.named);
        unnamed
            .filter_map(|(object, outcome)| Some(Remark::NoSymbols { object, why: outcome.why? }))
    }
}
