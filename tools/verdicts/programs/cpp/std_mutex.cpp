// Threads that share a std::mutex.
#include <mutex>
#include <thread>
#include <vector>

#include "../c/work.h"

static std::mutex lock;
static uint64_t shared = 1;

int main(int count, char **words) {
    arguments(count, words);
    std::vector<std::thread> all;
    for (long number = 0; number < threads; number++)
        all.emplace_back([number] {
            uint64_t own = (uint64_t)number + 1;
            for (long each = 0; each < sections / threads; each++) {
                own = compute(own, think);
                std::lock_guard<std::mutex> held(lock);
                shared = compute(shared + (own & 1), hold);
            }
        });
    for (auto &thread : all)
        thread.join();
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
