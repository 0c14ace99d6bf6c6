/* OpenMP: a parallel loop with a sum. */
#include <omp.h>

#include "../c/work.h"

int main(int count, char **words) {
    arguments(count, words);
    uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (long each = 0; each < sections; each++)
        sum += compute((uint64_t)each + 1, hold + think);
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}
