//! Code of loops as compilers make it.

use super::*;

const BEGIN: u64 = 0x40_1000;

/// The loop at an offset of this code. Nothing but the code can be read.
fn at(code: &[u8], offset: u64) -> Option<SpinLoop> {
    let read = |address: u64, length| {
        let Some(from) = address.checked_sub(BEGIN) else { return Vec::new() };
        let from = (from as usize).min(code.len());
        code[from..code.len().min(from + length)].to_vec()
    };
    spin_loop(BEGIN + offset, |_| None, read).found
}

/// Whether threads that are found at each of these offsets wait.
fn waits(code: &[u8], offsets: &[u64]) -> Vec<bool> {
    offsets.iter().map(|offset| at(code, *offset).is_some_and(|found| found.waits())).collect()
}

fn spins(code: &[u8], offsets: &[u64]) {
    assert_eq!(waits(code, offsets), vec![true; offsets.len()], "{code:x?}");
}

fn works(code: &[u8], offsets: &[u64]) {
    for offset in offsets {
        assert_eq!(at(code, *offset), None, "{code:x?} at {offset}");
    }
}

#[test]
fn waiting_for_a_word_to_change_is_a_spin_wherever_it_is_found() {
    // while (load(acquire) == s); of a global word: mov 0x2d0a(%rip),%eax; cmp %eax,%edx; je.
    spins(&[0x8b, 0x05, 0x0a, 0x2d, 0, 0, 0x39, 0xc2, 0x74, 0xf6], &[0, 6, 8]);
    // By a pointer: mov (%rdi),%eax; cmp %esi,%eax; je.
    spins(&[0x8b, 0x07, 0x39, 0xf0, 0x74, 0xfa, 0xc3], &[0, 2, 4]);
    // In one instruction, as clang has it: cmp %esi,(%rdi); je.
    spins(&[0x39, 0x37, 0x74, 0xfc, 0xc3], &[0, 2]);
    // Aligned and rotated: nopl; 1: mov (%rdi),%eax; test %eax,%eax; je 2f; jmp out; 2: jmp 1b.
    spins(
        &[0x0f, 0x1f, 0, 0x8b, 0x07, 0x85, 0xc0, 0x74, 2, 0xeb, 2, 0xeb, 0xf6, 0xc3],
        &[3, 5, 11],
    );
    // A byte: movzbl (%rdi),%eax; test %al,%al; je. And a bit: mov (%rdi),%rax; test $4,%al; je.
    spins(&[0x0f, 0xb6, 0x07, 0x84, 0xc0, 0x74, 0xf9], &[0, 3, 5]);
    spins(&[0x48, 0x8b, 0x07, 0xa8, 4, 0x74, 0xf9], &[0, 3, 5]);
    // What it is compared with is shifted out of what was read: mov; mov %eax,%ecx; shr $16; cmp; jne.
    let ticket = [0x8b, 0x07, 0x89, 0xc1, 0xc1, 0xe9, 16, 0x66, 0x39, 0xc1, 0x75, 0xf4];
    spins(&ticket, &[0, 2, 4, 7, 10]);
}

#[test]
fn waiting_for_several_words_or_through_a_pointer_is_a_spin_without_one_word() {
    // while (head == tail);: mov head(%rip),%edx; mov tail(%rip),%eax; cmp; je.
    let two = [0x8b, 0x15, 0, 1, 0, 0, 0x8b, 0x05, 0, 2, 0, 0, 0x39, 0xc2, 0x74, 0xf0];
    spins(&two, &[0, 6, 12, 14]);
    assert_eq!(at(&two, 0).expect("it spins").reads, None);
    // while (!*p->q);: mov 8(%rdi),%rax; mov (%rax),%eax; test; je.
    let pointer = [0x48, 0x8b, 0x47, 8, 0x8b, 0, 0x85, 0xc0, 0x74, 0xf6];
    spins(&pointer, &[0, 4, 6, 8]);
    assert_eq!(at(&pointer, 0).expect("it spins").reads, None);
    assert!(at(&[0x8b, 0x07, 0x39, 0xf0, 0x74, 0xfa], 2).expect("it spins").reads.is_some());
}

#[test]
fn a_lock_is_waited_for_with_and_without_a_pause() {
    // glibc's pthread_spin_lock, from its pause on: pause; mov (%rdi),%eax; test %eax,%eax; jne.
    spins(&[0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x75, 0xf8], &[0, 2, 4, 6]);
    // mov $1,%eax; xchg %eax,(%rdi); test %eax,%eax; jne back: a plain test-and-set.
    let exchange = [0xb8, 1, 0, 0, 0, 0x87, 0x07, 0x85, 0xc0, 0x75, 0xf5];
    spins(&exchange, &[0, 5, 7, 9]);
    assert!(at(&exchange, 0).expect("it spins").tries);
    // mov %ecx,%eax; lock cmpxchg %edx,(%rdi); jne back.
    spins(&[0x89, 0xc8, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf8], &[0, 2, 6]);
    // lock btsl $0,(%rdi); jb back.
    spins(&[0xf0, 0x0f, 0xba, 0x2f, 0, 0x72, 0xf9], &[0, 5]);
    // A pause that is counted: pause; dec %ecx; jne back.
    spins(&[0xf3, 0x90, 0xff, 0xc9, 0x75, 0xfa], &[0, 2, 4]);
}

#[test]
fn an_attempt_to_take_a_lock_is_not_waiting_for_it() {
    // lock decl (%rdi); jne slow; ret; slow: pause; cmpl $0,(%rdi); jg again; jmp slow.
    let code =
        [0xf0, 0xff, 0x0f, 0x75, 0x01, 0xc3, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7f, 0xf3, 0xeb, 0xf7];
    assert_eq!(waits(&code, &[0, 3, 6, 8, 11, 13]), [false, false, true, true, true, true]);
    // 1: xchg %eax,(%rdi); test; je out; pause; mov $1,%eax; jmp 1b.
    let code = [0x87, 0x07, 0x85, 0xc0, 0x74, 9, 0xf3, 0x90, 0xb8, 1, 0, 0, 0, 0xeb, 0xf1, 0xc3];
    assert_eq!(waits(&code, &[0, 2, 6]), [false; 3]);
    assert!(at(&code, 2).expect("it may wait").reads.is_some());
}

#[test]
fn searches_and_walks_are_no_spins() {
    // strlen: add $1,%rax; cmpb $0,(%rax); jne. memchr: add $1,%rax; cmp %dl,(%rax); jne.
    works(&[0x48, 0x83, 0xc0, 1, 0x80, 0x38, 0, 0x75, 0xf7], &[0, 4, 7]);
    works(&[0x48, 0x83, 0xc0, 1, 0x38, 0x10, 0x75, 0xf8, 0xc3], &[0, 4, 6]);
    // By an index: add $1,%rax; cmpb $0,(%rdi,%rax); jne.
    works(&[0x48, 0x83, 0xc0, 1, 0x80, 0x3c, 0x07, 0, 0x75, 0xf6], &[0, 4, 8]);
    // By vectors: movdqu (%rdi),%xmm0; pcmpeqb %xmm1,%xmm0; pmovmskb %xmm0,%eax; test; jne out;
    // add $16,%rdi; jmp.
    let vectors = [
        0xf3, 0x0f, 0x6f, 0x07, 0x66, 0x0f, 0x74, 0xc1, 0x66, 0x0f, 0xd7, 0xc0, 0x85, 0xc0, 0x75,
        6, 0x48, 0x83, 0xc7, 16, 0xeb, 0xea, 0xc3,
    ];
    works(&vectors, &[0, 4, 8, 12, 14, 16, 20]);
    // A list: 1: cmp %esi,8(%rdi); je out; mov (%rdi),%rdi; test %rdi,%rdi; jne 1b.
    let list = [0x39, 0x77, 8, 0x74, 8, 0x48, 0x8b, 0x3f, 0x48, 0x85, 0xff, 0x75, 0xf3, 0xc3];
    works(&list, &[0, 3, 5, 8, 11]);
}

#[test]
fn what_counts_or_makes_the_next_from_the_last_is_no_spin() {
    // sub $1,%rdi; jne: it reads nothing.
    works(&[0x48, 0x83, 0xef, 1, 0x75, 0xfa, 0xc3], &[0, 4]);
    // A bound in memory: mov (%rdx),%rcx; add $1,%rax; cmp %rax,%rcx; jg.
    works(&[0x48, 0x8b, 0x0a, 0x48, 0x83, 0xc0, 1, 0x48, 0x39, 0xc1, 0x7f, 0xf4], &[0, 3, 7, 10]);
    // Its two counters take turns: mov %rax,%rbx; lea 1(%rbx),%rax; cmp (%rdi),%rax; jne.
    works(&[0x48, 0x89, 0xc3, 0x48, 0x8d, 0x43, 1, 0x48, 0x3b, 0x07, 0x75, 0xf4], &[0, 3, 7, 10]);
    // A sum: mov (%rdi),%rdx; add %rdx,%rax; cmp $999,%rax; jle. And add (%rdi),%rax; jns.
    let sum = [0x48, 0x8b, 0x17, 0x48, 0x01, 0xd0, 0x48, 0x3d, 0xe7, 3, 0, 0, 0x7e, 0xf2];
    works(&sum, &[0, 3, 6, 12]);
    works(&[0x48, 0x03, 0x07, 0x79, 0xfb], &[0, 3]);
    // xorshift, until it is above a word in memory.
    let random = [
        0x48, 0x89, 0xc2, 0x48, 0xc1, 0xe2, 13, 0x48, 0x31, 0xd0, 0x48, 0x89, 0xc2, 0x48, 0xc1,
        0xea, 7, 0x48, 0x31, 0xc2, 0x48, 0x89, 0xd0, 0x48, 0xc1, 0xe0, 17, 0x48, 0x31, 0xd0, 0x48,
        0x8b, 0x16, 0x48, 0x39, 0xc2, 0x72, 0xda, 0xc3,
    ];
    works(&random, &[0, 3, 7, 20, 30, 33, 36]);
    // The carry goes on: adc (%rdi),%eax made anew each time, mov $0,%eax; adc (%rdi),%eax; jne.
    works(&[0xb8, 0, 0, 0, 0, 0x13, 0x07, 0x75, 0xf7], &[0, 5, 7]);
}

#[test]
fn what_writes_or_asks_for_the_time_is_no_spin() {
    // incl (%rdi); dec %ecx; jne. lock incl (%rdi); dec %ecx; jne: a shared counter.
    works(&[0xff, 0x07, 0xff, 0xc9, 0x75, 0xfa], &[0, 2, 4]);
    works(&[0xf0, 0xff, 0x07, 0xff, 0xc9, 0x75, 0xf9], &[0, 3, 5]);
    // mov %eax,(%rdi); cmp (%rsi),%eax; je.
    works(&[0x89, 0x07, 0x3b, 0x06, 0x74, 0xfa], &[0, 2, 4]);
    // rdtsc; cmp (%rdi),%eax; jb: it waits for a moment.
    works(&[0x0f, 0x31, 0x3b, 0x07, 0x72, 0xfa], &[0, 2, 4]);
    // mov (%rdi),%edx; mov (%rsi),%ecx; mov (%rdi),%eax; cmp %eax,%edx; jne: a reader that reads again if
    // the data were written meanwhile.
    works(&[0x8b, 0x17, 0x8b, 0x0e, 0x8b, 0x07, 0x39, 0xc2, 0x75, 0xf6, 0xc3], &[0, 2, 4, 6, 8]);
    // nop; ret. And call; test; je: what is called may do anything.
    works(&[0x90, 0xc3], &[0, 1]);
    works(&[0xe8, 0, 1, 0, 0, 0x85, 0xc0, 0x74, 0xf7], &[0, 5, 7]);
}
