// Prices options by the formula of Black and Scholes: options THREADS FILE ROUNDS.
//
// One thread reads the options, a line each, and copies their numbers into an array for each number. Each thread then
// prices its part again and again. One thread writes the prices.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct option {
    float spot, strike, rate, volatility, time;
    char kind;
};

static struct option *options;
static float *spot, *strike, *rate, *volatility, *years, *prices;
static int *is_put;
static long count;
static int threads, rounds;

static float below(float x)
{
    float at = fabsf(x), density = expf(-0.5f * at * at) * 0.39894228f, k = 1 / (1 + 0.2316419f * at);
    float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return x < 0 ? density * sum : 1 - density * sum;
}

static float price(long i)
{
    float root = sqrtf(years[i]), spread = volatility[i] * root;
    float d1 = (logf(spot[i] / strike[i]) + (rate[i] + volatility[i] * volatility[i] / 2) * years[i]) / spread;
    float one = below(d1), other = below(d1 - spread), later = strike[i] * expf(-rate[i] * years[i]);
    return is_put[i] ? later * (1 - other) - spot[i] * (1 - one) : spot[i] * one - later * other;
}

static void *work(void *number)
{
    long me = (long)number, first = count / threads * me, end = me == threads - 1 ? count : first + count / threads;
    for (int round = 0; round < rounds; round++)
        for (long i = first; i < end; i++)
            prices[i] = price(i);
    return NULL;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 4 ? fopen(argv[2], "r") : NULL;
    if (!file || fscanf(file, "%ld", &count) != 1)
        return 2;
    threads = atoi(argv[1]), rounds = atoi(argv[3]);
    if (threads < 1 || rounds < 1 || count < threads)
        return 2;
    options = malloc(count * sizeof *options), prices = malloc(count * sizeof *prices);
    float *numbers = malloc(5 * count * sizeof *numbers);
    is_put = malloc(count * sizeof *is_put);
    pthread_t *made = malloc(threads * sizeof *made);
    if (!options || !prices || !numbers || !is_put || !made)
        return 1;
    for (long i = 0; i < count; i++) {
        struct option *o = &options[i];
        if (fscanf(file, "%f %f %f %f %f %c", &o->spot, &o->strike, &o->rate, &o->volatility, &o->time, &o->kind) != 6)
            return 1;
    }
    fclose(file);
    spot = numbers, strike = spot + count, rate = strike + count, volatility = rate + count, years = volatility + count;
    for (long i = 0; i < count; i++) {
        spot[i] = options[i].spot, strike[i] = options[i].strike, rate[i] = options[i].rate;
        volatility[i] = options[i].volatility, years[i] = options[i].time, is_put[i] = options[i].kind == 'P';
    }
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    for (long i = 0; i < count; i++)
        printf("%.6f\n", prices[i]);
    return 0;
}
