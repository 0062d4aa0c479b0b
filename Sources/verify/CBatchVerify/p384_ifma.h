/// Eight numbers modulo p at a time, in base 2^48, with AVX-512 IFMA.
///
/// Eight limbs are 384 bits: what stands above them is folded back without a chain of carries. A product's limbs are
/// below 2^48 + 2^13; operands may have limbs below 2^51, so sums and differences need no carries.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#include "p384_table.h"

#define P384_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512ifma")))
#if defined(__OPTIMIZE__)
#define P384_INLINE P384_TARGET __attribute__((always_inline)) static inline
#else
// Temporaries of inlined functions have separate places then: all in one function are too much for a stack.
#define P384_INLINE P384_TARGET static inline
#endif

#if defined(__clang__)
#define P384_UNROLL _Pragma("clang loop unroll(full)")
#else
#define P384_UNROLL _Pragma("GCC unroll 16")
#endif

/// The least significant limbs first.
typedef struct {
    __m512i limb[8];
} p384_ifma;

/// A product's sums by weight, 2^(48 k) for column k.
typedef struct {
    __m512i column[16];
} p384_columns;

/// Multiples of p with limbs from 2^51 and from 2^49 on: added, they keep a difference's limbs from being negative. The
/// first one lacks 2^45 in column 14, which keeps the folded column 8 from being negative.
static const uint64_t p384_large_multiple[8] = {
    0x8e007fffffff8, 0x8fffffffffff7, 0x8dff800001fef, 0x8ffffbffffff7,
    0x8ffffffffdff7, 0x8fffffffffff7, 0x8dffffffffff7, 0x800001ffffff7,
};
static const uint64_t p384_small_multiple[8] = {
    0x20002fffffffd, 0x2fffffffffffe, 0x2fffcfffffffa, 0x2fffffffffffd,
    0x2fffffffffffd, 0x2fffffffffffd, 0x2fffffffffffd, 0x2fffffffffffd,
};

P384_INLINE __m512i p384_all(uint64_t limb)
{
    return _mm512_set1_epi64((long long)limb);
}

/// Starts a sum that stands for 0.
P384_INLINE void p384_start(p384_columns *c)
{
    P384_UNROLL for (int k = 0; k < 8; k++) c->column[k] = p384_all(p384_large_multiple[k]);
    P384_UNROLL for (int k = 8; k < 16; k++) c->column[k] = _mm512_setzero_si512();
    c->column[14] = p384_all((uint64_t)1 << 45);
}

/// Subtracts a product; at most three times in a sum.
P384_INLINE void p384_take_away(p384_columns *c, const p384_ifma *a)
{
    P384_UNROLL for (int k = 0; k < 8; k++) c->column[k] = _mm512_sub_epi64(c->column[k], a->limb[k]);
}

/// a - b for products, with limbs below 2^51.
P384_INLINE p384_ifma p384_difference(const p384_ifma *a, const p384_ifma *b)
{
    p384_ifma r;
    P384_UNROLL for (int k = 0; k < 8; k++) {
        const __m512i raised = _mm512_add_epi64(a->limb[k], p384_all(p384_small_multiple[k]));
        r.limb[k] = _mm512_sub_epi64(raised, b->limb[k]);
    }
    return r;
}

P384_INLINE p384_ifma p384_opposite(const p384_ifma *a)
{
    p384_ifma r;
    P384_UNROLL for (int k = 0; k < 8; k++) {
        r.limb[k] = _mm512_sub_epi64(p384_all(p384_small_multiple[k]), a->limb[k]);
    }
    return r;
}

P384_INLINE __m512i p384_add_low(__m512i sum, __m512i x, __m512i y)
{
    return _mm512_madd52lo_epu64(sum, x, y);
}

P384_INLINE __m512i p384_add_high(__m512i sum, __m512i x, __m512i y)
{
    return _mm512_madd52hi_epu64(sum, x, y);
}

// A product of limbs has 52 low bits in its column and the rest 4 bits above the next column's unit.
#define P384_COLUMN(k, terms)                                                                                        \
    {                                                                                                                \
        __m512i low = c->column[k], high = _mm512_setzero_si512();                                                   \
        terms c->column[k] = _mm512_add_epi64(low, _mm512_slli_epi64(before, 4));                                    \
        before = high;                                                                                               \
    }
#define P384_TERM(x, y)                                                                                              \
    low = p384_add_low(low, x, y);                                                                                   \
    high = p384_add_high(high, x, y);

#define P384_PRODUCT(T)                                                                                              \
    P384_COLUMN(0, T(0, 0))                                                                                          \
    P384_COLUMN(1, T(0, 1) T(1, 0))                                                                                  \
    P384_COLUMN(2, T(0, 2) T(1, 1) T(2, 0))                                                                          \
    P384_COLUMN(3, T(0, 3) T(1, 2) T(2, 1) T(3, 0))                                                                  \
    P384_COLUMN(4, T(0, 4) T(1, 3) T(2, 2) T(3, 1) T(4, 0))                                                          \
    P384_COLUMN(5, T(0, 5) T(1, 4) T(2, 3) T(3, 2) T(4, 1) T(5, 0))                                                  \
    P384_COLUMN(6, T(0, 6) T(1, 5) T(2, 4) T(3, 3) T(4, 2) T(5, 1) T(6, 0))                                          \
    P384_COLUMN(7, T(0, 7) T(1, 6) T(2, 5) T(3, 4) T(4, 3) T(5, 2) T(6, 1) T(7, 0))                                  \
    P384_COLUMN(8, T(1, 7) T(2, 6) T(3, 5) T(4, 4) T(5, 3) T(6, 2) T(7, 1))                                          \
    P384_COLUMN(9, T(2, 7) T(3, 6) T(4, 5) T(5, 4) T(6, 3) T(7, 2))                                                  \
    P384_COLUMN(10, T(3, 7) T(4, 6) T(5, 5) T(6, 4) T(7, 3))                                                         \
    P384_COLUMN(11, T(4, 7) T(5, 6) T(6, 5) T(7, 4))                                                                 \
    P384_COLUMN(12, T(5, 7) T(6, 6) T(7, 5))                                                                         \
    P384_COLUMN(13, T(6, 7) T(7, 6))                                                                                 \
    P384_COLUMN(14, T(7, 7))

/// Adds a * b.
P384_INLINE void p384_add_product(p384_columns *c, const p384_ifma *a, const p384_ifma *b)
{
    __m512i before = _mm512_setzero_si512();
#define P384_ONE(i, j) P384_TERM(a->limb[i], b->limb[j])
    P384_PRODUCT(P384_ONE)
#undef P384_ONE
    c->column[15] = _mm512_add_epi64(c->column[15], _mm512_slli_epi64(before, 4));
}

/// Adds a * b + d * e.
P384_INLINE void p384_add_products(p384_columns *c, const p384_ifma *a, const p384_ifma *b, const p384_ifma *d,
                                   const p384_ifma *e)
{
    __m512i before = _mm512_setzero_si512();
#define P384_BOTH(i, j) P384_TERM(a->limb[i], b->limb[j]) P384_TERM(d->limb[i], e->limb[j])
    P384_PRODUCT(P384_BOTH)
#undef P384_BOTH
    c->column[15] = _mm512_add_epi64(c->column[15], _mm512_slli_epi64(before, 4));
}

/// Adds a * a; limbs of a are below 2^50.
P384_INLINE void p384_add_square(p384_columns *c, const p384_ifma *a)
{
    __m512i twice[8], before = _mm512_setzero_si512();
    P384_UNROLL for (int i = 0; i < 8; i++) twice[i] = _mm512_add_epi64(a->limb[i], a->limb[i]);
#define T(i, j) P384_TERM(a->limb[i], twice[j])
#define S(i) P384_TERM(a->limb[i], a->limb[i])
    P384_COLUMN(0, S(0))
    P384_COLUMN(1, T(0, 1))
    P384_COLUMN(2, T(0, 2) S(1))
    P384_COLUMN(3, T(0, 3) T(1, 2))
    P384_COLUMN(4, T(0, 4) T(1, 3) S(2))
    P384_COLUMN(5, T(0, 5) T(1, 4) T(2, 3))
    P384_COLUMN(6, T(0, 6) T(1, 5) T(2, 4) S(3))
    P384_COLUMN(7, T(0, 7) T(1, 6) T(2, 5) T(3, 4))
    P384_COLUMN(8, T(1, 7) T(2, 6) T(3, 5) S(4))
    P384_COLUMN(9, T(2, 7) T(3, 6) T(4, 5))
    P384_COLUMN(10, T(3, 7) T(4, 6) S(5))
    P384_COLUMN(11, T(4, 7) T(5, 6))
    P384_COLUMN(12, T(5, 7) S(6))
    P384_COLUMN(13, T(6, 7))
    P384_COLUMN(14, S(7))
#undef S
#undef T
    c->column[15] = _mm512_add_epi64(c->column[15], _mm512_slli_epi64(before, 4));
}

/// Adds to x the columns from `from` on times 2^384 = 2^128 + 2^96 - 2^32 + 1, as 2^128 + 2^96 = 2^96 (2^32 + 1).
P384_INLINE void p384_fold(__m512i *x, const __m512i *from, const int count)
{
    __m512i above = _mm512_setzero_si512();
    P384_UNROLL for (int k = 0; k < count; k++) {
        // Limb k of the columns times 2^32.
        const __m512i low = _mm512_srli_epi64(_mm512_slli_epi64(from[k], 48), 16);
        const __m512i shifted = _mm512_add_epi64(low, above);
        above = _mm512_srli_epi64(from[k], 16);
        x[k] = _mm512_add_epi64(x[k], _mm512_sub_epi64(from[k], shifted));
        x[k + 2] = _mm512_add_epi64(x[k + 2], _mm512_add_epi64(from[k], shifted));
    }
    x[count] = _mm512_sub_epi64(x[count], above);
    x[count + 2] = _mm512_add_epi64(x[count + 2], above);
}

/// The columns modulo p, with limbs below 2^48 + 2^13.
P384_INLINE p384_ifma p384_reduced(const p384_columns *c)
{
    const __m512i mask = p384_all(((uint64_t)1 << 48) - 1);
    __m512i x[11], high[3];
    P384_UNROLL for (int k = 0; k < 8; k++) x[k] = c->column[k];
    P384_UNROLL for (int k = 8; k < 11; k++) x[k] = _mm512_setzero_si512();
    p384_fold(x, c->column + 8, 8);
    P384_UNROLL for (int k = 0; k < 3; k++) high[k] = x[8 + k];
    p384_fold(x, high, 3);
    const __m512i top = _mm512_srli_epi64(x[7], 48), shifted = _mm512_slli_epi64(top, 32);
    x[0] = _mm512_add_epi64(x[0], _mm512_sub_epi64(top, shifted));
    x[2] = _mm512_add_epi64(x[2], _mm512_add_epi64(top, shifted));
    p384_ifma r;
    r.limb[0] = _mm512_and_si512(x[0], mask);
    P384_UNROLL for (int k = 1; k < 8; k++) {
        r.limb[k] = _mm512_add_epi64(_mm512_and_si512(x[k], mask), _mm512_srli_epi64(x[k - 1], 48));
    }
    return r;
}

P384_INLINE p384_ifma p384_product(const p384_ifma *a, const p384_ifma *b)
{
    p384_columns c;
    p384_start(&c);
    p384_add_product(&c, a, b);
    return p384_reduced(&c);
}

/// a * b - d.
P384_INLINE p384_ifma p384_product_less(const p384_ifma *a, const p384_ifma *b, const p384_ifma *d)
{
    p384_columns c;
    p384_start(&c);
    p384_take_away(&c, d);
    p384_add_product(&c, a, b);
    return p384_reduced(&c);
}
#endif
