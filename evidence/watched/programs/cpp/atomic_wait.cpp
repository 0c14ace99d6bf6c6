// Threads that share a lock made by hand of std::atomic, whose waiters sleep in std::atomic::wait.
#include <atomic>

#include "../c/planted.h"

namespace {

// Drepper's mutex: free, held, held and perhaps waited for.
class AtomicLock {
  public:
    void lock() {
        int seen = 0;
        if (state.compare_exchange_strong(seen, 1, std::memory_order_acquire))
            return;
        if (seen != 2)
            seen = state.exchange(2, std::memory_order_acquire);
        while (seen != 0) {
            state.wait(2, std::memory_order_relaxed);
            seen = state.exchange(2, std::memory_order_acquire);
        }
    }

    void unlock() {
        if (state.exchange(0, std::memory_order_release) == 2)
            state.notify_one();
    }

  private:
    std::atomic<int> state{0};
};

} // namespace

AtomicLock planted_lock;

PLANTED_SECTION void planted_section(planted_thread *self) {
    planted_lock.lock();
    planted_hold(self);
    planted_lock.unlock();
}

static void body(planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    planted_run("c++", "std::atomic::wait", &planted_lock, planted->threads, body);
}
