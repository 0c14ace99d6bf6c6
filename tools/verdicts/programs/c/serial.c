/* One thread that computes. */
#include "work.h"

int main(int count, char **words) {
    arguments(count, words);
    uint64_t own = 1;
    for (long each = 0; each < sections; each++)
        own = compute(own, hold + think);
    printf("%llx\n", (unsigned long long)own);
    return 0;
}
