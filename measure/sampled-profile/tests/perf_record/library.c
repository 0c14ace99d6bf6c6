// What is loaded late.
__attribute__((noinline)) void hot_library(void) {
    for (volatile long i = 0; i < 40000000; i++) {
    }
}
