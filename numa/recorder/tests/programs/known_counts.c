// Refers to known pages a known number of times, in loops of which each round is known. Prints the
// number of the first page. Its status is 7.
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 100000

#define LOOP(number, instructions, ...)                                                              \
    do {                                                                                             \
        char *at = pages + (number);                                                                 \
        long rounds = ROUNDS;                                                                        \
        __asm__ volatile("1: " instructions "; dec %1; jnz 1b"                                       \
                         : "+r"(at), "+r"(rounds)                                                    \
                         :                                                                           \
                         : "rax", "rdx", "memory");                                                  \
    } while (0)

int main(void) {
    char *pages = aligned_alloc(4096, 12 * 4096);
    if (pages == NULL) return 1;
    printf("%lu\n", (unsigned long)pages / 4096);
    fflush(stdout);
    LOOP(0 * 4096, "movq (%0), %%rax");
    LOOP(1 * 4096, "movb %%al, (%0)");
    LOOP(2 * 4096, "addq $1, (%0)");
    LOOP(3 * 4096, "lock addq $1, (%0)");
    LOOP(4 * 4096, "xchgq %%rax, (%0)");
    LOOP(5 * 4096 + 4092, "movq (%0), %%rax");
    LOOP(7 * 4096 + 4088, "movq (%0), %%rax");
    LOOP(8 * 4096 + 4093, "movl %%eax, (%0)");
    long count = ROUNDS % 4096;
    char *to = pages + 10 * 4096;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
    return 7;
}
