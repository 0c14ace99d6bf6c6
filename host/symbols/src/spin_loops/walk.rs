//! Following code from an address until it comes back there, into the functions that it calls and out
//! of the one that it is in.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};

use crate::spin_loops::code::Code;
use crate::spin_loops::spin::SpinLoop;
use crate::spin_loops::turn::{Branch, Turn};
use crate::spin_loops::value::{Stack, Value};

/// How many instructions are followed from an address.
const FOLLOWED: usize = 64;
/// How many instructions are followed on all paths together.
const BUDGET: usize = 256;
/// How many branches are followed both ways on a path.
const FORKS: usize = 5;

/// What was found out about an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The spin loop that the instruction there belongs to, if it does.
    pub found: Option<SpinLoop>,
    /// The words of the stack that the answer depends on: how far each is above the stack pointer, and
    /// what it was. A function that is called in a spin loop may be called elsewhere, too.
    pub depends_on: Vec<(i64, u64)>,
}

/// What the instruction at `at` belongs to, where a thread with these registers was found: whole ones are
/// asked for, of which the stack pointer has to be known. `read` reads so many bytes at an address, or as
/// many of them as there are.
pub fn spin_loop(
    at: u64,
    registers: impl Fn(Register) -> Option<u64>,
    read: impl Fn(u64, usize) -> Vec<u8>,
) -> Answer {
    let stack = Rc::new(Stack::new(registers));
    let code = Code::new(read);
    let mut factory = InstructionInfoFactory::new();
    // Both ways of the first few branches, as the way back may be either.
    let mut open = vec![(at, Turn::new(stack), 0)];
    let mut budget = BUDGET;
    let mut looked_at = BTreeMap::new();
    let mut found: Option<SpinLoop> = None;
    while let Some((mut next, mut turn, mut forks)) = open.pop() {
        while turn.instructions.len() < FOLLOWED && budget > 0 {
            budget -= 1;
            if next == at && !turn.instructions.is_empty() && turn.is_level() {
                match SpinLoop::of_turn(&turn, |branch| comes_back(&code, &turn, branch)) {
                    // Where waiters only read, that is what they do for most of the time.
                    Some(only_reads) if !only_reads.tries => {
                        looked_at.extend(&turn.looked_at);
                        let depends_on = looked_at.into_iter().collect();
                        return Answer { found: Some(only_reads), depends_on };
                    }
                    tries => found = found.or(tries),
                }
                break;
            }
            let Some(instruction) = code.instruction(next) else { break };
            let called = called(&instruction, &turn, &code);
            let is_followed = turn.take(&instruction, &mut factory, |at| code.word(at)).is_some();
            looked_at.extend(&turn.looked_at);
            if !is_followed {
                break;
            }
            let goes_on = match instruction.flow_control() {
                FlowControl::Next => Some(instruction.next_ip()),
                FlowControl::Call if instruction.mnemonic() == Mnemonic::Syscall => {
                    Some(instruction.next_ip())
                }
                FlowControl::Call | FlowControl::IndirectCall => {
                    turn.depth += 1;
                    called
                }
                FlowControl::Return => {
                    turn.depth -= 1;
                    turn.least_depth = turn.least_depth.min(turn.depth);
                    turn.returns_to
                }
                FlowControl::ConditionalBranch if turn.jumps(&instruction).is_some() => {
                    match turn.jumps(&instruction) {
                        Some(true) => Some(instruction.near_branch_target()),
                        _ => Some(instruction.next_ip()),
                    }
                }
                FlowControl::ConditionalBranch if forks < FORKS => {
                    forks += 1;
                    let to = instruction.near_branch_target();
                    let mut taken = turn.clone();
                    taken.branch(&instruction, instruction.next_ip());
                    open.push((to, taken, forks));
                    turn.branch(&instruction, to);
                    Some(instruction.next_ip())
                }
                FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => called,
                _ => None,
            };
            let Some(to) = goes_on else { break };
            next = to;
        }
    }
    Answer { found, depends_on: looked_at.into_iter().collect() }
}

/// Where a jump or a call leads. That of a function of a library goes through a word that says where the
/// function is.
fn called<R>(instruction: &Instruction, turn: &Turn, code: &Code<R>) -> Option<u64>
where
    R: Fn(u64, usize) -> Vec<u8>,
{
    match instruction.try_op_kind(0).ok()? {
        OpKind::NearBranch64 => Some(instruction.near_branch_target()),
        OpKind::Memory if instruction.is_ip_rel_memory_operand() => {
            code.word(instruction.ip_rel_memory_address())
        }
        OpKind::Register => match turn.value(instruction.op0_register()) {
            Value::Known(to) => Some(to),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the other way at a branch leads back into the turn within a few instructions: then the branch is
/// no way out of the loop.
fn comes_back<R>(code: &Code<R>, turn: &Turn, branch: &Branch) -> bool
where
    R: Fn(u64, usize) -> Vec<u8>,
{
    let mut seen = BTreeSet::new();
    let mut open = vec![branch.other];
    while let Some(at) = open.pop() {
        if turn.instructions.contains(&at) {
            return true;
        }
        if seen.len() >= FOLLOWED || !seen.insert(at) {
            continue;
        }
        let Some(instruction) = code.instruction(at) else { continue };
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                open.push(instruction.next_ip());
            }
            FlowControl::UnconditionalBranch => open.push(instruction.near_branch_target()),
            FlowControl::ConditionalBranch => {
                open.extend([instruction.next_ip(), instruction.near_branch_target()]);
            }
            // It returns to what called it, which is in the turn.
            FlowControl::Return if branch.depth > turn.least_depth => return true,
            _ => {}
        }
    }
    false
}
