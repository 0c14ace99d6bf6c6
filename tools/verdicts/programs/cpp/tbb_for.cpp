// oneTBB's parallel loop: blocks that know nothing of one another.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include "../c/work.h"

int main(int count, char **words) {
    arguments(count, words);
    tbb::global_control most(tbb::global_control::max_allowed_parallelism, (size_t)threads);
    tbb::parallel_for(0L, sections, [](long each) {
        volatile uint64_t own = compute((uint64_t)each + 1, hold + think);
        (void)own;
    });
    return 0;
}
