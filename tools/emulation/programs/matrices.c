// Multiplies two square matrices: matrices THREADS SIDE ROWS.
//
// One thread makes both. Each thread then computes rows of the product, of which there are ROWS, each number by itself:
// along a row of the one and down a column of the other.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int *left, *right, *product;
static int threads, side, rows;

static void *multiply(void *number)
{
    int me = (long)number, each = rows / threads, more = rows % threads;
    int first = me * each + (me < more ? me : more), end = first + each + (me < more);
    for (int i = first; i < end; i++)
        for (int j = 0; j < side; j++) {
            int value = 0;
            for (int k = 0; k < side; k++)
                value += left[(long)i * side + k] * right[(long)k * side + j];
            product[(long)i * side + j] = value;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    threads = atoi(argv[1]), side = atoi(argv[2]), rows = atoi(argv[3]);
    if (threads < 1 || side < 1 || rows < threads || rows > side)
        return 2;
    left = malloc((long)rows * side * sizeof *left);
    right = malloc((long)side * side * sizeof *right);
    product = malloc((long)rows * side * sizeof *product);
    pthread_t *made = malloc(threads * sizeof *made);
    if (!left || !right || !product || !made)
        return 1;
    unsigned random = 1;
    for (long i = 0; i < (long)rows * side; i++)
        left[i] = (random = random * 1664525 + 1013904223) >> 21;
    for (long i = 0; i < (long)side * side; i++)
        right[i] = (random = random * 1664525 + 1013904223) >> 21;
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, multiply, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    unsigned all = 0;
    for (long i = 0; i < (long)rows * side; i++)
        all += product[i];
    printf("%u\n", all);
    return 0;
}
