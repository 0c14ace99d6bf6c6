/* Random numbers that are the same each time: a thread's own, from its number. */
#include <stdint.h>

static inline uint64_t random_of(long number) {
    return 88172645463325252u + (uint64_t)number * 2654435761u;
}

/* The next one, above 0 and at most 1. */
static inline double uniform(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return ((*random >> 11) + 1) * 0x1p-53;
}
