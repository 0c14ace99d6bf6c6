/* OpenMP: a critical section. */
#include <omp.h>

#include "../c/work.h"

static uint64_t shared = 1;

int main(int count, char **words) {
    arguments(count, words);
#pragma omp parallel num_threads(threads)
    {
        uint64_t own = (uint64_t)omp_get_thread_num() + 1;
        for (long each = 0; each < sections / threads; each++) {
            own = compute(own, think);
#pragma omp critical
            shared = compute(shared + (own & 1), hold);
        }
    }
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
