// Blocks in the heap: a table that all threads read, which the first thread has filled, and pages that are
// used again and again. All is allocated by the language's library.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

namespace shop {

class Shelf {
  public:
    explicit Shelf(std::size_t places) : goods(places) { std::iota(goods.begin(), goods.end(), 0); }

    std::uint64_t count() const { return std::accumulate(goods.begin(), goods.end(), std::uint64_t{0}); }

  private:
    // Below the size from which `malloc` maps memory.
    std::vector<std::uint64_t> goods;
};

__attribute__((noinline)) std::uint64_t weigh(std::size_t crates) {
    std::vector<std::uint32_t> weights(crates, 3);
    return std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
}

} // namespace shop

int main() {
    std::vector<shop::Shelf> shelves;
    shelves.reserve(8); // so that all are made by one call
    for (int shelf = 0; shelf < 8; shelf++) shelves.emplace_back(12000);
    std::vector<std::uint64_t> sums(4 * 512);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; thread++) {
        threads.emplace_back([&shelves, &sums, thread] {
            for (int round = 0; round < 20; round++)
                for (const auto &shelf : shelves) sums[thread * 512] += shelf.count();
        });
    }
    for (auto &thread : threads) thread.join();
    std::uint64_t weight = 0;
    for (int load = 0; load < 100; load++) weight += shop::weigh(5000);
    std::printf("%llu\n", static_cast<unsigned long long>(sums[0] + weight));
}
