//! Takes the names of processes off the bottom of folded stacks.
//!
//! stackcollapse-perf and its kin put the name of the process below each stack: `iperf;main;send 12`.
//! That is no function, and nothing can be lost in it. Nothing marks it either. So the names at the
//! bottom are taken for those of processes if functions lie on them with which threads begin.

use crate::{Contexts, Function, FunctionId, Functions, Tally};

/// The functions with which threads begin, as far as names tell.
const BEGINNINGS: [&str; 16] = [
    "_start",
    "main",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "start_thread",
    "thread_start",
    "_dl_start",
    "runtime.goexit",
    "runtime.rt0_go",
    "ret_from_fork_asm",
    "secondary_startup_64_no_verify",
];

/// So much of what has a process below it has to begin as threads do. Stacks that break off do not.
const MOST_BEGIN: f64 = 0.5;

/// What is known of the functions at the bottom of stacks.
#[derive(Debug, Clone, Copy, Default)]
struct Bottom {
    /// What lies on it.
    all: u64,
    /// What of that begins as threads do.
    begins: u64,
}

fn begins(functions: &Functions, function: FunctionId) -> bool {
    let name = functions.get(function).name.as_str();
    // Some tools print versions of symbols, and compilers' suffixes.
    let name = name.split(['@', '+']).next().unwrap_or(name);
    BEGINNINGS.contains(&name)
}

/// Takes names of processes off all stacks. What is left of a stack that had nothing else is a function
/// without a name.
pub(super) fn leave_out(functions: &mut Functions, contexts: &mut Contexts) {
    if !has_processes(functions, contexts) {
        return;
    }
    let unknown = || Function {
        name: Function::UNKNOWN.to_owned(),
        object: String::new(),
        origin: crate::Origin::Unknown,
    };
    let (mut kept, mut named) = (Contexts::default(), Functions::default());
    for (id, context) in contexts.iter() {
        if context.own == Tally::default() {
            continue;
        }
        let stack: Vec<FunctionId> = contexts.stack(id).collect();
        let rest = &stack[..stack.len().saturating_sub(1)];
        let mut stack: Vec<FunctionId> =
            rest.iter().map(|function| named.id(functions.get(*function))).collect();
        if stack.is_empty() {
            stack.push(named.id(&unknown()));
        }
        kept.sample(&stack, context.own);
    }
    (*functions, *contexts) = (named, kept);
}

/// Whether what lies at the bottom of all stacks are processes: none of it begins a thread itself, and
/// for most of the weight, what lies on it does.
fn has_processes(functions: &Functions, contexts: &Contexts) -> bool {
    let mut bottom = Bottom::default();
    for (id, context) in contexts.iter() {
        if context.own.weight == 0 {
            continue;
        }
        let (mut lowest, mut second) = (None, None);
        for function in contexts.stack(id) {
            (lowest, second) = (Some(function), lowest);
        }
        if lowest.is_none_or(|function| begins(functions, function)) {
            return false;
        }
        bottom.all = bottom.all.saturating_add(context.own.weight);
        if second.is_some_and(|function| begins(functions, function)) {
            bottom.begins = bottom.begins.saturating_add(context.own.weight);
        }
    }
    bottom.begins as f64 > bottom.all as f64 * MOST_BEGIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;

    fn left(stacks: &[(&str, u64)]) -> Vec<(String, u64)> {
        let (mut functions, mut contexts) = (Functions::default(), Contexts::default());
        for (stack, count) in stacks {
            let function = |name: &str| Function {
                name: name.to_owned(),
                object: String::new(),
                origin: Origin::Unknown,
            };
            let stack: Vec<FunctionId> =
                stack.rsplit(';').map(|name| functions.id(&function(name))).collect();
            contexts.sample(&stack, Tally::of(*count, *count));
        }
        leave_out(&mut functions, &mut contexts);
        let mut left = Vec::new();
        for (id, context) in contexts.iter().filter(|(_, context)| context.own.samples > 0) {
            let mut names: Vec<&str> =
                contexts.stack(id).map(|f| functions.get(f).name.as_str()).collect();
            names.reverse();
            left.push((names.join(";"), context.own.samples));
        }
        left.sort();
        left
    }

    #[test]
    fn names_of_processes_are_no_functions() {
        let stacks =
            [("iperf;main;send", 5), ("iperf;start_thread;recv", 3), ("iperf;do_syscall_64", 2)];
        let wanted = [("do_syscall_64", 2), ("main;send", 5), ("start_thread;recv", 3)];
        assert_eq!(left(&stacks), wanted.map(|(stack, count)| (stack.to_owned(), count)));
        assert_eq!(left(&[("a b;_start;main", 3), ("a b", 1)])[0], ("[unknown]".to_owned(), 1));
    }

    #[test]
    fn functions_at_the_bottom_stay() {
        for stacks in [
            &[("main;work", 5), ("start_thread;work", 3)][..],
            &[("serve;read", 5), ("serve;main", 1)],
            &[("iperf;main;send", 5), ("main;send", 1)],
        ] {
            let mut wanted: Vec<(String, u64)> =
                stacks.iter().map(|(stack, count)| ((*stack).to_owned(), *count)).collect();
            wanted.sort();
            assert_eq!(left(stacks), wanted);
        }
    }
}
