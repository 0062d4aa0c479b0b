#include "CProcessorProbe.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum { TURNS = 2000000, CHAINS = 16 };

/// The time of one clock cycle: additions that wait for each other take one each.
static double cycle(void) {
    unsigned long value = 1;
    double start = seconds();
    for (int turn = 0; turn < TURNS; turn++) {
        __asm__ volatile("add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\t"
                         "add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0"
                         : "+r"(value));
    }
    return (seconds() - start) / (8.0 * TURNS);
}

__attribute__((target("avx512f,avx512ifma"))) static double multiplication(void) {
    __m512i factor = _mm512_set1_epi64(3), sum[CHAINS];
    for (int i = 0; i < CHAINS; i++) sum[i] = factor;
    double start = seconds();
    for (int turn = 0; turn < TURNS; turn++) {
#define STEP(i) __asm__ volatile("vpmadd52luq %1, %1, %0" : "+v"(sum[i]) : "v"(factor));
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
        STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
#undef STEP
    }
    return (seconds() - start) / ((double)CHAINS * TURNS);
}

double probe_madd52_per_cycle(void) {
    if (!__builtin_cpu_supports("avx512ifma")) return 0;
    double best = 0;
    for (int round = 0; round < 5; round++) {
        double rate = cycle() / multiplication();
        if (rate > best && rate < 4) best = rate;
    }
    return best;
}

#else

double probe_madd52_per_cycle(void) { return 0; }

#endif
