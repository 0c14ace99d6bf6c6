// Threads that share a lock made of std::atomic's wait and notify.
#include <atomic>
#include <thread>
#include <vector>

#include "../c/work.h"

static std::atomic<int> lock; // 0 free, 1 held, 2 held and waited for
static uint64_t shared = 1;

static void acquire() {
    int seen = 0;
    if (lock.compare_exchange_strong(seen, 1, std::memory_order_acquire))
        return;
    while (lock.exchange(2, std::memory_order_acquire) != 0)
        lock.wait(2);
}

static void release() {
    if (lock.exchange(0, std::memory_order_release) == 2)
        lock.notify_one();
}

int main(int count, char **words) {
    arguments(count, words);
    std::vector<std::thread> all;
    for (long number = 0; number < threads; number++)
        all.emplace_back([number] {
            uint64_t own = (uint64_t)number + 1;
            for (long each = 0; each < sections / threads; each++) {
                own = compute(own, think);
                acquire();
                shared = compute(shared + (own & 1), hold);
                release();
            }
        });
    for (auto &thread : all)
        thread.join();
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
