// Calls that are known: two callers of one function in a thread, and in the main thread a recursion, a deep one, and a jump
// out of several functions.
#include <pthread.h>
#include <setjmp.h>

enum { ROUNDS = 20 };

#define CALLED static __attribute__((noinline, noclone)) void

// What comes behind a call keeps it from being a jump.
#define STAYS __asm__ volatile("" ::: "memory")

CALLED leaf(int turns)
{
    for (int i = 0; i < turns; i++)
        __asm__ volatile("nop" ::: "memory");
}

CALLED left(void)
{
    leaf(5000);
    STAYS;
}

CALLED right(void)
{
    leaf(15000);
    STAYS;
}

CALLED recursion(int depth)
{
    if (depth > 0)
        recursion(depth - 1);
    else
        leaf(10000);
    STAYS;
}

static jmp_buf back;
static volatile int jump = 1;

CALLED jumps(int depth)
{
    if (depth > 0)
        jumps(depth - 1);
    else if (jump)
        longjmp(back, 1);
    STAYS;
}

CALLED lands(void)
{
    if (!setjmp(back))
        jumps(6);
    leaf(10000);
    STAYS;
}

static void *run(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        left();
        right();
    }
    return unused;
}

int main(void)
{
    pthread_t made;
    pthread_create(&made, NULL, run, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        recursion(3);
        lands();
    }
    recursion(200);
    pthread_join(made, NULL);
    return 0;
}
