// Multiplies two square matrices by mapping: matrices THREADS SIDE ROWS.
//
// One thread makes both. A task computes a row of the product, of which there are ROWS, each number by itself: along
// a row of the one and down a column of the other. Nothing is emitted.
#include <stdio.h>
#include <stdlib.h>

#include "mapreduce.h"

static int *left, *right, *product;
static int side;

static void multiply(long first, long count)
{
    for (long i = first; i < first + count; i++)
        for (int j = 0; j < side; j++) {
            int value = 0;
            for (int k = 0; k < side; k++)
                value += left[i * side + k] * right[(long)k * side + j];
            product[i * side + j] = value;
        }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int threads = atoi(argv[1]), rows = atoi(argv[3]);
    side = atoi(argv[2]);
    if (threads < 1 || side < 1 || rows < 1 || rows > side)
        return 2;
    left = malloc((long)rows * side * sizeof *left);
    right = malloc((long)side * side * sizeof *right);
    product = malloc((long)rows * side * sizeof *product);
    if (!left || !right || !product)
        return 1;
    unsigned random = 1;
    for (long i = 0; i < (long)rows * side; i++)
        left[i] = (random = random * 1664525 + 1013904223) >> 21;
    for (long i = 0; i < (long)side * side; i++)
        right[i] = (random = random * 1664525 + 1013904223) >> 21;
    long none;
    struct job job = {rows, 1, NULL, multiply, NULL, NULL, NULL};
    make_pool(threads);
    map_reduce(&job, &none);
    unsigned all = 0;
    for (long i = 0; i < (long)rows * side; i++)
        all += product[i];
    printf("%u\n", all);
    return 0;
}
