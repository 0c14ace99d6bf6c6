// C++'s mutexes that readers share are read-write locks of pthreads.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void check(bool condition, int line)
{
    if (!condition) {
        std::fprintf(stderr, "line %d: not true\n", line);
        std::_Exit(1);
    }
}
#define CHECK(condition) check(condition, __LINE__)

constexpr int THREADS = 4;

template <typename Mutex, typename Lock, typename LockShared>
static void exclude(Mutex &mutex, Lock lock, LockShared lock_shared)
{
    long first = 0, second = 0;
    std::atomic<long> writes{0}, reads{0};
    std::vector<std::thread> threads;
    auto end = std::chrono::steady_clock::now() + 300ms;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([&, i] {
            for (int turn = i; std::chrono::steady_clock::now() < end; turn++) {
                if (turn % 4 == 0) {
                    std::unique_lock<Mutex> held(mutex, std::defer_lock);
                    lock(held);
                    first++;
                    std::this_thread::yield();
                    second++;
                    writes++;
                } else {
                    std::shared_lock<Mutex> held(mutex, std::defer_lock);
                    lock_shared(held);
                    CHECK(first == second);
                    reads++;
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    CHECK(first == writes && second == writes && reads > 0);
}

template <typename Mutex>
static void calls(Mutex &mutex)
{
    {
        std::unique_lock<Mutex> writer(mutex);
        bool refused = false;
        try {
            mutex.lock();
        } catch (const std::system_error &error) {
            refused = error.code() == std::errc::resource_deadlock_would_occur;
        }
        CHECK(refused);
        std::thread([&] { CHECK(!mutex.try_lock() && !mutex.try_lock_shared()); }).join();
    }
    std::shared_lock<Mutex> reader(mutex);
    std::thread([&] {
        CHECK(!mutex.try_lock() && mutex.try_lock_shared());
        mutex.unlock_shared();
    }).join();
}

static void times()
{
    std::shared_timed_mutex mutex;
    auto late = [](auto since) { return std::chrono::steady_clock::now() - since >= 20ms; };
    {
        std::unique_lock<std::shared_timed_mutex> writer(mutex);
        std::thread([&] {
            auto start = std::chrono::steady_clock::now();
            CHECK(!mutex.try_lock_for(20ms) && late(start));
            start = std::chrono::steady_clock::now();
            CHECK(!mutex.try_lock_shared_until(start + 20ms) && late(start));
            CHECK(!mutex.try_lock_until(std::chrono::system_clock::now() + 20ms));
        }).join();
    }
    CHECK(mutex.try_lock_shared_for(1ms));
    std::thread([&] { CHECK(!mutex.try_lock_for(20ms)); }).join();
    mutex.unlock_shared();
    CHECK(mutex.try_lock_until(std::chrono::system_clock::now()));
    mutex.unlock();
}

int main()
{
    auto plain = [](auto &held) { held.lock(); };
    std::shared_mutex shared;
    exclude(shared, plain, plain);
    calls(shared);
    std::shared_timed_mutex timed;
    exclude(timed, plain, plain);
    exclude(timed, [](auto &held) { CHECK(held.try_lock_for(90s)); },
            [](auto &held) { CHECK(held.try_lock_for(90s)); });
    calls(timed);
    times();
    std::puts("ok");
}
