/// Numbers of 384 bits and arithmetic modulo p = 2^384 - 2^128 - 2^96 + 2^32 - 1, in plain C.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// The least significant word first. Modulo p a number below 2^384 stands for its remainder, unless it is canonical.
typedef struct {
    uint64_t word[6];
} p384_number;

__extension__ typedef unsigned __int128 p384_wide;

/// 2^384 modulo p.
#define P384_EXCESS {{0xffffffff00000001, 0xffffffff, 1, 0, 0, 0}}
#define P384_PRIME {{0xffffffff, 0xffffffff00000000, 0xfffffffffffffffe, UINT64_MAX, UINT64_MAX, UINT64_MAX}}

static inline uint64_t p384_add_carry(uint64_t a, uint64_t b, uint64_t *carry)
{
#if defined(__clang__)
    unsigned long long out;
    const uint64_t sum = __builtin_addcll(a, b, *carry, &out);
    *carry = out;
    return sum;
#else
    const p384_wide sum = (p384_wide)a + b + *carry;
    *carry = (uint64_t)(sum >> 64);
    return (uint64_t)sum;
#endif
}

static inline uint64_t p384_subtract_borrow(uint64_t a, uint64_t b, uint64_t *borrow)
{
#if defined(__clang__)
    unsigned long long out;
    const uint64_t difference = __builtin_subcll(a, b, *borrow, &out);
    *borrow = out;
    return difference;
#else
    const p384_wide difference = (p384_wide)a - b - *borrow;
    *borrow = (uint64_t)(difference >> 64) & 1;
    return (uint64_t)difference;
#endif
}

/// Adds without reduction; returns the carry.
static inline uint64_t p384_add_words(p384_number *r, const p384_number *a, const p384_number *b)
{
    uint64_t carry = 0;
    for (int i = 0; i < 6; i++) r->word[i] = p384_add_carry(a->word[i], b->word[i], &carry);
    return carry;
}

/// Subtracts without reduction; returns the borrow.
static inline uint64_t p384_subtract_words(p384_number *r, const p384_number *a, const p384_number *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < 6; i++) r->word[i] = p384_subtract_borrow(a->word[i], b->word[i], &borrow);
    return borrow;
}

static inline bool p384_is_zero(const p384_number *a)
{
    return (a->word[0] | a->word[1] | a->word[2] | a->word[3] | a->word[4] | a->word[5]) == 0;
}

static inline bool p384_is_below(const p384_number *a, const p384_number *b)
{
    p384_number unused;
    return p384_subtract_words(&unused, a, b) != 0;
}

static inline bool p384_is_same(const p384_number *a, const p384_number *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/// Reads words of which the most significant comes first.
static inline p384_number p384_read(const uint64_t *words)
{
    p384_number a;
    for (int i = 0; i < 6; i++) a.word[i] = words[5 - i];
    return a;
}

/// Adds carry * 2^384 modulo p to r, carry being 0 or 1.
static inline void p384_fold_carry(p384_number *r, uint64_t carry)
{
    const uint64_t mask = 0 - carry;
    const p384_number excess = {{0xffffffff00000001 & mask, 0xffffffff & mask, 1 & mask, 0, 0, 0}};
    if (__builtin_expect(p384_add_words(r, r, &excess) != 0, 0)) {
        const p384_number once = P384_EXCESS;
        p384_add_words(r, r, &once);
    }
}

static inline void p384_add(p384_number *r, const p384_number *a, const p384_number *b)
{
    const uint64_t carry = p384_add_words(r, a, b);
    p384_fold_carry(r, carry);
}

static inline void p384_subtract(p384_number *r, const p384_number *a, const p384_number *b)
{
    const uint64_t mask = 0 - p384_subtract_words(r, a, b);
    const p384_number excess = {{0xffffffff00000001 & mask, 0xffffffff & mask, 1 & mask, 0, 0, 0}};
    if (__builtin_expect(p384_subtract_words(r, r, &excess) != 0, 0)) {
        const p384_number once = P384_EXCESS;
        p384_subtract_words(r, r, &once);
    }
}

static inline void p384_negate(p384_number *r, const p384_number *a)
{
    const p384_number zero = {{0}};
    p384_subtract(r, &zero, a);
}

/// Makes r the remainder itself, below p.
static inline void p384_make_canonical(p384_number *r)
{
    const p384_number prime = P384_PRIME;
    if (!p384_is_below(r, &prime)) p384_subtract_words(r, r, &prime);
}

/// Compilers keep loops of this size, and their words then go through memory: a tenth of a verification's time.
#if defined(__clang__)
#define P384_UNROLL _Pragma("clang loop unroll(full)")
#else
#define P384_UNROLL
#endif

/// The 12 words of a * b.
static inline void p384_multiply_words(uint64_t *t, const p384_number *a, const p384_number *b)
{
    uint64_t carry = 0;
    P384_UNROLL
    for (int j = 0; j < 6; j++) {
        const p384_wide sum = (p384_wide)a->word[0] * b->word[j] + carry;
        t[j] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    t[6] = carry;
    P384_UNROLL
    for (int i = 1; i < 6; i++) {
        carry = 0;
        P384_UNROLL
        for (int j = 0; j < 6; j++) {
            const p384_wide sum = (p384_wide)a->word[i] * b->word[j] + t[i + j] + carry;
            t[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        t[i + 6] = carry;
    }
}

/// The 12 words of a * a.
static inline void p384_square_words(uint64_t *t, const p384_number *a)
{
    t[0] = 0;
    for (int i = 1; i < 12; i++) t[i] = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t carry = 0;
        for (int j = i + 1; j < 6; j++) {
            const p384_wide sum = (p384_wide)a->word[i] * a->word[j] + t[i + j] + carry;
            t[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        t[i + 6] = carry;
    }
    for (int i = 11; i > 0; i--) t[i] = t[i] << 1 | t[i - 1] >> 63;
    uint64_t carry = 0;
    for (int i = 0; i < 6; i++) {
        const p384_wide square = (p384_wide)a->word[i] * a->word[i];
        t[2 * i] = p384_add_carry(t[2 * i], (uint64_t)square, &carry);
        t[2 * i + 1] = p384_add_carry(t[2 * i + 1], (uint64_t)(square >> 64), &carry);
    }
}

/// Folds what stands above 2^384 twice: 2^384 = 2^128 + 2^96 - 2^32 + 1 modulo p.
static inline void p384_reduce(p384_number *r, const uint64_t *t)
{
    const uint64_t *high = t + 6;
    uint64_t shifted[7];
    shifted[0] = high[0] << 32;
    for (int i = 1; i < 6; i++) shifted[i] = high[i] << 32 | high[i - 1] >> 32;
    shifted[6] = high[5] >> 32;
    uint64_t a[9], carry = 0;
    for (int i = 0; i < 6; i++) a[i] = p384_add_carry(t[i], high[i], &carry);
    uint64_t above = carry;
    carry = 0;
    for (int i = 2; i < 6; i++) a[i] = p384_add_carry(a[i], high[i - 2], &carry);
    a[6] = p384_add_carry(high[4], above, &carry);
    a[7] = p384_add_carry(high[5], 0, &carry);
    a[8] = carry;
    carry = 0;
    for (int i = 1; i < 8; i++) a[i] = p384_add_carry(a[i], shifted[i - 1], &carry);
    a[8] += carry;
    carry = 0;
    for (int i = 0; i < 7; i++) a[i] = p384_subtract_borrow(a[i], shifted[i], &carry);
    a[7] = p384_subtract_borrow(a[7], 0, &carry);
    a[8] -= carry;

    const uint64_t s0 = a[6] << 32, s1 = a[7] << 32 | a[6] >> 32, s2 = a[8] << 32 | a[7] >> 32;
    uint64_t v[5];
    carry = 0;
    v[1] = p384_add_carry(a[7], s0, &carry);
    v[2] = p384_add_carry(a[8], s1, &carry);
    v[3] = p384_add_carry(a[7], s2, &carry);
    v[4] = a[8] + carry;
    carry = 0;
    v[2] = p384_add_carry(v[2], a[6], &carry);
    v[3] = p384_add_carry(v[3], 0, &carry);
    v[4] += carry;
    carry = 0;
    v[0] = p384_subtract_borrow(a[6], s0, &carry);
    v[1] = p384_subtract_borrow(v[1], s1, &carry);
    v[2] = p384_subtract_borrow(v[2], s2, &carry);
    v[3] = p384_subtract_borrow(v[3], 0, &carry);
    v[4] -= carry;
    carry = 0;
    for (int i = 0; i < 5; i++) r->word[i] = p384_add_carry(a[i], v[i], &carry);
    r->word[5] = p384_add_carry(a[5], 0, &carry);
    if (__builtin_expect(carry != 0, 0)) p384_fold_carry(r, carry);
}

static inline void p384_multiply(p384_number *r, const p384_number *a, const p384_number *b)
{
    uint64_t t[12];
    p384_multiply_words(t, a, b);
    p384_reduce(r, t);
}

static inline void p384_square(p384_number *r, const p384_number *a)
{
    uint64_t t[12];
    p384_square_words(t, a);
    p384_reduce(r, t);
}
