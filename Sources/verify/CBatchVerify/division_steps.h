/// Division steps of Bernstein and Yang ("Fast constant-time gcd computation and modular inversion", 2019), 62 at a time
/// and in variable time: zeros are skipped, and several low bits go at once.
#pragma once

#include "words.h"

static const uint64_t cbv_low62 = UINT64_MAX >> 2;

/// The matrix by which 62 division steps change (f, g), times 2^62.
struct cbv_transition {
    int64_t u, v, q, r;
};

/// 62 division steps on the lowest bits of f (odd) and g. `delta` is what the paper calls so.
CBV_INLINE int64_t cbv_division_steps(int64_t delta, uint64_t f, uint64_t g, struct cbv_transition *done) {
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = 62;
    for (;;) {
        int zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        delta += zeros;
        left -= zeros;
        if (left == 0) break;
        if (delta > 0) {
            uint64_t former = f;
            delta = -delta;
            f = g, g = -former;
            former = u, u = q, q = -former;
            former = v, v = r, r = -former;
        }
        // The next 1 - delta steps only add f to g: they clear as many bits at once, at most 6.
        int most = (int)(1 - delta) < left ? (int)(1 - delta) : left;
        uint64_t mask = (UINT64_MAX >> (64 - most)) & 63;
        uint64_t times = g * f * (f * f - 2) & mask;
        g += f * times;
        q += u * times;
        r += v * times;
    }
    *done = (struct cbv_transition){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return delta;
}
