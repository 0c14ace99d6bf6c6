// What is loaded late.
#include "work.h"

__attribute__((noinline)) void hot_library(void) {
    WORK(50000000)
}
