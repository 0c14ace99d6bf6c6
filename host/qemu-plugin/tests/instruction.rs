//! What is told of an instruction from its bytes.

use kilocore_qemu_plugin::instruction::{is_on_stack, jumps_back};

#[test]
fn what_is_relative_to_the_stack_pointer_is_on_the_stack() {
    // mov %eax,0x8(%rsp); mov %rax,(%rsp,%rbx,2); movl $1,0x100(%rsp)
    for bytes in [
        &[0x89, 0x44, 0x24, 0x08][..],
        &[0x48, 0x89, 0x04, 0x5c],
        &[0xc7, 0x84, 0x24, 0, 1, 0, 0, 1, 0, 0, 0],
    ] {
        assert!(is_on_stack(bytes), "{bytes:x?}");
    }
    // mov %eax,(%rax); mov %eax,0x8(%r12); mov %eax,(%rax,%rbx,2); mov %esp,%eax
    for bytes in [
        &[0x89, 0x00][..],
        &[0x41, 0x89, 0x44, 0x24, 0x08],
        &[0x89, 0x04, 0x58],
        &[0x89, 0xe0],
        &[],
    ] {
        assert!(!is_on_stack(bytes), "{bytes:x?}");
    }
}

#[test]
fn a_jump_to_a_smaller_address_is_one_back() {
    // jmp .-2; jne .-0x20; jmp .-0x100; je .-0x100; loop .-2; jmp *%rax; jmp *%r11
    let back = [
        &[0xeb, 0xfe][..],
        &[0x75, 0xe0],
        &[0xe9, 0, 0xff, 0xff, 0xff],
        &[0x0f, 0x84, 0, 0xff, 0xff, 0xff],
        &[0xe2, 0xfe],
        &[0xff, 0xe0],
        &[0x41, 0xff, 0xe3],
    ];
    for bytes in back {
        assert!(jumps_back(bytes), "{bytes:x?}");
    }
    // jmp .+2; jne .+0x20; je .+0x100; call *%rax; jmp *(%rax), which loads; ret; nothing
    let others = [
        &[0xeb, 0x00][..],
        &[0x75, 0x20],
        &[0x0f, 0x84, 0, 1, 0, 0],
        &[0xff, 0xd0],
        &[0xff, 0x20],
        &[0xc3],
        &[0xeb],
        &[],
    ];
    for bytes in others {
        assert!(!jumps_back(bytes), "{bytes:x?}");
    }
}
