#include "CBatchVerify.h"

#if defined(__x86_64__)

#include <cpuid.h>

/// The states that the system saves: XMM and YMM, mask registers and both parts of ZMM.
enum { SAVED_STATES = 0xE6 };

static uint32_t saved_states(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

const char *cbv_missing_feature(void) {
    static const struct {
        unsigned bit;
        const char *name;
    } features[] = {{16, "AVX-512F"}, {17, "AVX-512DQ"}, {21, "AVX-512IFMA"}, {30, "AVX-512BW"}, {31, "AVX-512VL"}};
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return "CPUID";
    // Without OSXSAVE, XGETBV is an invalid instruction.
    if (!(c >> 27 & 1)) return "OSXSAVE";
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return "CPUID leaf 7";
    for (unsigned i = 0; i < sizeof features / sizeof *features; i++) {
        if (!(b >> features[i].bit & 1)) return features[i].name;
    }
    if ((saved_states() & SAVED_STATES) != SAVED_STATES) return "AVX-512 in the operating system";
    return NULL;
}

#else

const char *cbv_missing_feature(void) { return "x86-64"; }

#endif
