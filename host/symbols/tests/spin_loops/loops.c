// Loops that wait for another thread and loops that work, a function each. `loops NAME` stops at a
// breakpoint with the address of the word that is waited for in a register, and then runs that one.
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ITEMS = 4096 };
struct node { struct node *next; int key; };
struct shared { volatile int word; int other; volatile int *far; };

static atomic_int flag;
static volatile int told;
static struct shared object;
static int numbers[ITEMS], copies[ITEMS], table[ITEMS];
static char text[ITEMS];
static struct node nodes[ITEMS];
static volatile long sink;
static volatile int bound = ITEMS, mode;

#define ALONE __attribute__((noinline))

// Waiting.
ALONE void global(void) { while (!atomic_load_explicit(&flag, memory_order_acquire)); }
ALONE void pointer(struct shared *it) { while (it->word == 0); }
ALONE void barrier(struct shared *it, int phase) { while (it->word == phase); }
ALONE void bit(struct shared *it) { while (!(it->word & 4)); }
ALONE void two_values(struct shared *it) { while (it->word != 1 && it->word != 2); }
ALONE long counted(struct shared *it) { long turns = 0; while (!it->word) turns++; return turns; }
ALONE int counted_short(struct shared *it) { int turns = 0; do turns += 2; while (!it->word); return turns; }
ALONE int limited(struct shared *it) {
    for (int turn = 0; turn < 100000000; turn++) if (it->word) return 1;
    return 0;
}
ALONE static int is_ready(void) { return told; }
ALONE void called(void) { while (!is_ready()); }
ALONE static int word_of(struct shared *it) { return it->word; }
ALONE static int is_set(struct shared *it) { return word_of(it) != 0; }
ALONE void called_twice(struct shared *it) { while (!is_set(it)); }
ALONE void yields(struct shared *it) { while (!it->word) sched_yield(); }
ALONE void tries(void) { int free = 0; while (!atomic_compare_exchange_weak(&flag, &free, 1)) free = 0; }
ALONE void pauses(struct shared *it) { while (!it->word) __builtin_ia32_pause(); }

// Working.
ALONE void copy(void) { for (int i = 0; i < ITEMS; i++) copies[i] = numbers[i]; }
ALONE void copy_bytes(char *to, const char *from, size_t size) { while (size--) *to++ = *from++; }
ALONE void sum(void) { long all = 0; for (int i = 0; i < ITEMS; i++) all += numbers[i]; sink = all; }
ALONE void walk(struct node *it) { while (it && it->key != 7) it = it->next; sink = it != NULL; }
ALONE static struct node *next_of(struct node *it) { return it->next; }
ALONE void walk_by_calls(struct node *it) { while (it->key != 7 && next_of(it)) it = next_of(it); sink = 1; }
ALONE void length(const char *it) { const char *at = it; while (*at) at++; sink = at - it; }
ALONE void find(const char *it) { for (int i = 0; i < ITEMS; i++) if (it[i] == 'x') { sink = i; return; } }
ALONE void library(void) { sink = strlen(text) + (memchr(text, 'x', ITEMS) != NULL); }
ALONE void compare(const char *a, const char *b) { while (*a == *b && *a) a++, b++; sink = *a - *b; }
ALONE void probe(unsigned key) {
    unsigned at = key * 2654435761u % ITEMS;
    while (table[at] && (unsigned)table[at] != key) at = (at + 1) % ITEMS;
    sink = at;
}
ALONE void search(int key) {
    int low = 0, high = ITEMS;
    while (low < high) { int middle = (low + high) / 2; if (numbers[middle] < key) low = middle + 1; else high = middle; }
    sink = low;
}
ALONE void bounded(void) { long all = 0; for (int i = 0; i < bound; i++) all ^= i * 3; sink = all; }
ALONE void bounded_only(void) { int i = 0; while (i < bound) i++; sink = i; }
ALONE void random_until_told(void) { unsigned x = 1; while (!told) x = x * 1664525u + 1013904223u; sink = x; }
ALONE void float_until_told(void) { double x = 1; while (!told) x = x * 1.0000001 + 0.5; sink = (long)x; }
ALONE void shift_until_told(void) { uint64_t x = 88172645463325252u; while (!told) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } sink = x; }
ALONE void sum_of_polls(struct shared *it) { long all = 0; while (all < 1000000) all += it->word + 1; sink = all; }
ALONE void matches(void) { int found = 0; for (int i = 0; i < 100000; i++) if (mode & 1) found++; sink = found; }
ALONE void squares_until_told(void) { long all = 0; for (long i = 0; !told; i++) all += i * i; sink = all; }
ALONE static unsigned step(unsigned x) { return x * 1664525u + 1013904223u; }
ALONE void calls_until_told(void) { unsigned x = 1; while (!told) x = step(x); sink = x; }
ALONE static int parts(int x) { int n = 0; for (int i = 2; i < x; i++) if (x % i == 0) n++; return n; }
ALONE void primes_until_told(void) { int all = 0; for (int i = 2; !told; i++) all += parts(i) == 0; sink = all; }
ALONE void collatz(unsigned long x) { int turns = 0; while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; turns++; } sink = turns; }
ALONE void countdown(void) { for (volatile long i = 100000; i > 0; i--); }
ALONE void adds(void) { for (int i = 0; i < 100000; i++) atomic_fetch_add(&flag, 1); }
ALONE void adds_until_told(void) { while (!told) sink++; }
ALONE void on_its_stack(void) {
    int own[64];
    for (int i = 0; i < 64; i++) own[i] = i;
    for (int turn = 0; turn < 100; turn++) for (int i = 1; i < 64; i++) own[i] += own[i - 1];
    sink = own[63];
}
ALONE void indexed_until_told(void) { int i = 0; while (!told && numbers[i] >= 0) i = (i + 1) & (ITEMS - 1); sink = i; }

#define RUN(name, call, word) \
    if (strcmp(which, #name) == 0) { \
        __asm__ volatile("int3" ::"a"(word)); \
        call; \
        __asm__ volatile("int3"); \
        return 0; \
    }

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    for (int i = 0; i < ITEMS; i++) {
        nodes[i] = (struct node){i + 1 < ITEMS ? nodes + i + 1 : NULL, 0};
        numbers[i] = i;
        table[i] = i < ITEMS - 1 ? i + 100000 : 0;
        text[i] = i + 1 < ITEMS ? 'a' : 0;
        ((char *)copies)[i] = text[i];
    }
    RUN(global, global(), &flag)
    RUN(pointer, pointer(&object), &object.word)
    RUN(barrier, barrier(&object, 0), &object.word)
    RUN(bit, bit(&object), &object.word)
    RUN(two_values, two_values(&object), &object.word)
    RUN(counted, counted(&object), &object.word)
    RUN(counted_short, counted_short(&object), &object.word)
    RUN(limited, limited(&object), &object.word)
    RUN(called, called(), &told)
    RUN(called_twice, called_twice(&object), &object.word)
    RUN(yields, yields(&object), &object.word)
    flag = strcmp(which, "tries") == 0;
    RUN(tries, tries(), &flag)
    RUN(pauses, pauses(&object), &object.word)
    RUN(copy, copy(), 0)
    RUN(copy_bytes, copy_bytes((char *)copies, text, ITEMS), 0)
    RUN(sum, sum(), 0)
    RUN(walk, walk(nodes), 0)
    RUN(walk_by_calls, walk_by_calls(nodes), 0)
    RUN(length, length(text), 0)
    RUN(find, find(text), 0)
    RUN(library, library(), 0)
    RUN(compare, compare(text, (char *)copies), 0)
    RUN(probe, probe(77), 0)
    RUN(search, search(1234), 0)
    RUN(bounded, bounded(), 0)
    RUN(bounded_only, bounded_only(), 0)
    RUN(random_until_told, random_until_told(), 0)
    RUN(float_until_told, float_until_told(), 0)
    RUN(shift_until_told, shift_until_told(), 0)
    RUN(sum_of_polls, sum_of_polls(&object), 0)
    RUN(matches, matches(), 0)
    RUN(squares_until_told, squares_until_told(), 0)
    RUN(calls_until_told, calls_until_told(), 0)
    RUN(primes_until_told, primes_until_told(), 0)
    RUN(collatz, collatz(837799), 0)
    RUN(countdown, countdown(), 0)
    RUN(adds, adds(), 0)
    RUN(adds_until_told, adds_until_told(), 0)
    RUN(on_its_stack, on_its_stack(), 0)
    RUN(indexed_until_told, indexed_until_told(), 0)
    return 2;
}
