// Work that takes time on every processor. A counter in memory, for which a function has a frame,
// costs five cycles a turn on one processor and one on the next; a product of the one before it
// costs three or four on all.
#define WORK(times)                                           \
    long product = 1;                                         \
    for (volatile long turns = 0; turns < (times); turns++) { \
        product *= 1000003;                                   \
        __asm__ volatile("" : "+r"(product));                 \
    }
