//! The table of functions, in which each function appears once.

use std::collections::HashMap;
use std::fmt;

/// A function of a profile, as an index into its [`Functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(u32);

impl FunctionId {
    /// Its index among the profile's functions.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether code belongs to user space, the kernel or another system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The kernel or one of its modules.
    Kernel,
    /// A program or a library.
    User,
    /// The profile does not say.
    Unknown,
}

/// A function as a profile names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function {
    /// Its name, demangled, without an offset; [`Function::UNKNOWN`] if the profile has none.
    pub name: String,
    /// The file that contains the code: a path, or a name in brackets such as
    /// `[kernel.kallsyms]`. Empty if the profile does not say.
    pub object: String,
    /// Where its code lies.
    pub origin: Origin,
}

impl Function {
    /// The name of code without a name.
    pub const UNKNOWN: &'static str = "[unknown]";

    /// Whether the profile has a name for it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.name != Self::UNKNOWN
    }

    /// The last part of [`Function::object`].
    #[must_use]
    pub fn object_name(&self) -> &str {
        self.object.rsplit('/').next().unwrap_or(&self.object)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_known(), self.object_name()) {
            (true, _) | (false, "") => f.write_str(&self.name),
            (false, object) => write!(f, "{} in {object}", self.name),
        }
    }
}

/// The functions of a profile, in the order in which they were first seen.
#[derive(Debug, Clone, Default)]
pub struct Functions {
    all: Vec<Function>,
    ids: HashMap<Function, FunctionId>,
}

impl Functions {
    /// Returns the function's index, and adds the function if it is new.
    ///
    /// # Panics
    /// If there are more than four thousand million of them.
    pub fn id(&mut self, function: &Function) -> FunctionId {
        if let Some(&id) = self.ids.get(function) {
            return id;
        }
        let id = FunctionId(u32::try_from(self.all.len()).expect("functions fit into memory"));
        self.all.push(function.clone());
        self.ids.insert(function.clone(), id);
        id
    }

    /// The function of an index.
    ///
    /// # Panics
    /// If the index comes from another profile that has more functions.
    #[must_use]
    pub fn get(&self, id: FunctionId) -> &Function {
        &self.all[id.index()]
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them with their indices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        self.all.iter().enumerate().map(|(index, function)| (FunctionId(index as u32), function))
    }
}
