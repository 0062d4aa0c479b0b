/// Numbers of P-256 as four words of 64 bits, the most significant first.
#pragma once

#include <stdbool.h>
#include <stdint.h>

static const uint64_t p256_prime[4] = {0xffffffff00000001, 0, 0x00000000ffffffff, 0xffffffffffffffff};
static const uint64_t p256_order[4] = {0xffffffff00000000, 0xffffffffffffffff, 0xbce6faada7179e84,
                                       0xf3b9cac2fc632551};
/// prime - order: below it, r + order is another x that gives the same r.
static const uint64_t p256_prime_over_order[4] = {0, 0, 0x4319055358e8617b, 0x0c46353d039cdaae};
static const uint64_t p256_one[4] = {0, 0, 0, 1};
/// G: x, then y.
static const uint64_t p256_generator[8] = {0x6b17d1f2e12c4247, 0xf8bce6e563a440f2, 0x77037d812deb33a0,
                                           0xf4a13945d898c296, 0x4fe342e2fe1a7f9b, 0x8ee7eb4a7c0f9e16,
                                           0x2bce33576b315ece, 0xcbb6406837bf51f5};

static inline bool p256_is_less(const uint64_t a[4], const uint64_t b[4]) {
    for (int i = 0; i < 4; i++) {
        if (a[i] != b[i]) return a[i] < b[i];
    }
    return false;
}

/// The order minus a scalar that is not above it.
static inline void p256_negate_scalar(const uint64_t scalar[4], uint64_t negated[4]) {
    uint64_t borrow = 0;
    for (int i = 3; i >= 0; i--) {
        uint64_t without = p256_order[i] - scalar[i];
        uint64_t next = (p256_order[i] < scalar[i]) | (without < borrow);
        negated[i] = without - borrow;
        borrow = next;
    }
}
