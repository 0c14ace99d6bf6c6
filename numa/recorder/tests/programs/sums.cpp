// Products of matrices, on four threads of OpenMP.
#include <cstdio>
#include <vector>

int main() {
    const int size = 160;
    std::vector<double> a(size * size), b(size * size), c(size * size);
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < size * size; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++)
            for (int j = 0; j < size; j++) c[i * size + j] += a[i * size + k] * b[k * size + j];
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
    for (int i = 0; i < size * size; i++) sum += c[i];
    std::printf("%.0f\n", sum);
}
