// A subject for docs/evidence/numa.md: relaxation on a grid, with a table that all threads read and a histogram.
//
// usage: relax SIDE STEPS, with OMP_NUM_THREADS threads
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

int main(int argc, char **argv) {
    const int side = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 40;
    std::vector<double> before(side * side);
    std::vector<double> after(side * side);
    std::vector<double> table(1 << 16);
    for (size_t i = 0; i < table.size(); i++) table[i] = 1.0 / (1 + i % 97);
    for (int i = 0; i < side * side; i++) before[i] = (i * 2654435761u >> 8) % 1000;
    for (int step = 0; step < steps; step++) {
        #pragma omp parallel for schedule(static)
        for (int y = 1; y < side - 1; y++)
            for (int x = 1; x < side - 1; x++) {
                const unsigned entry = unsigned(x * 31 + y * 17 + step * 101) & 0xffff;
                const double *row = &before[y * side + x];
                const double sum = row[-1] + row[1] + row[-side] + row[side];
                after[y * side + x] = 0.25 * sum * table[entry];
            }
        std::swap(before, after);
    }
    long histogram[64] = {0};
    for (double value : before) histogram[long(value * 1000) & 63]++;
    for (long count : histogram) printf("%ld ", count);
    puts("");
}
