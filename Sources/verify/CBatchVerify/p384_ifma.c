#include "CBatchVerify.h"
#include "p384_ifma.h"

#include <stdlib.h>

#if defined(__x86_64__)

/// Eight sums: x = X / ZZ, y = Y / ZZZ with ZZ^3 = ZZZ^2 (extended Jacobian, "XYZZ").
typedef struct {
    p384_ifma x, y, zz, zzz;
} lane_sums;

enum { GROUPS = P384_MOST / 8 };

typedef struct {
    lane_sums sum[GROUPS];
    p384_scalars scalars;
    /// Sums that no point has reached yet, a bit for each lane.
    uint8_t empty[GROUPS];
} scratch_space;

_Static_assert(sizeof(scratch_space) < P384_SCRATCH_BETWEEN, "the portable code's scratch is the larger one");

/// Eight rows of eight words become eight columns.
P384_INLINE void transpose(__m512i *row)
{
    const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0), high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    __m512i a[8], b[8];
    P384_UNROLL for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm512_unpacklo_epi64(row[2 * i], row[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi64(row[2 * i], row[2 * i + 1]);
    }
    P384_UNROLL for (int half = 0; half < 2; half++) {
        P384_UNROLL for (int odd = 0; odd < 2; odd++) {
            const __m512i first = a[4 * half + odd], second = a[4 * half + 2 + odd];
            b[4 * half + odd] = _mm512_permutex2var_epi64(first, low, second);
            b[4 * half + 2 + odd] = _mm512_permutex2var_epi64(first, high, second);
        }
    }
    P384_UNROLL for (int i = 0; i < 4; i++) {
        // b[i] and b[4 + i] hold columns i and 4 + i, of the rows 0 to 3 and 4 to 7.
        row[i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0x44);
        row[4 + i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0xee);
    }
}

/// The places of a number's 24 words of 16 bits in its eight limbs; each limb's fourth word is 0.
#define LIMBS_FROM(w)                                                                                                \
    {w + 0,  w + 1,  w + 2,  0, w + 3,  w + 4,  w + 5,  0, w + 6,  w + 7,  w + 8,  0, w + 9,  w + 10, w + 11, 0,    \
     w + 12, w + 13, w + 14, 0, w + 15, w + 16, w + 17, 0, w + 18, w + 19, w + 20, 0, w + 21, w + 22, w + 23, 0}
static const uint16_t limbs_of_x[32] = LIMBS_FROM(0);
static const uint16_t limbs_of_y[32] = LIMBS_FROM(8);

/// Reads a point for each lane; index holds eight places in the window.
P384_INLINE void look_up(const p384_point *window, const uint8_t *index, p384_ifma *x, p384_ifma *y)
{
    const __m512i of_x = _mm512_loadu_si512(limbs_of_x), of_y = _mm512_loadu_si512(limbs_of_y);
    P384_UNROLL for (int lane = 0; lane < 8; lane++) {
        const char *point = (const char *)&window[index[lane]];
        // y's last 48 bytes of 64: nothing after the point is read.
        const __m512i first = _mm512_loadu_si512(point), last = _mm512_loadu_si512(point + 32);
        x->limb[lane] = _mm512_maskz_permutexvar_epi16(0x77777777, of_x, first);
        y->limb[lane] = _mm512_maskz_permutexvar_epi16(0x77777777, of_y, last);
    }
    transpose(x->limb);
    transpose(y->limb);
}

/// Writes the lanes of `mask` only.
P384_INLINE void store(p384_ifma *to, __mmask8 mask, const p384_ifma *from)
{
    P384_UNROLL for (int k = 0; k < 8; k++) _mm512_mask_storeu_epi64(&to->limb[k], mask, from->limb[k]);
}

/// a += (x, y) in the lanes of `mask`. Where both have the same x, doubling or cancelling, zz becomes 0 and stays so.
P384_TARGET static void add(lane_sums *a, __mmask8 mask, const p384_ifma *x, const p384_ifma *y)
{
    const p384_ifma p = p384_product_less(x, &a->zz, &a->x), r = p384_product_less(y, &a->zzz, &a->y);
    p384_columns c;
    p384_start(&c);
    p384_add_square(&c, &p);
    const p384_ifma pp = p384_reduced(&c), ppp = p384_product(&p, &pp), q = p384_product(&a->x, &pp);
    lane_sums sum;
    sum.zz = p384_product(&a->zz, &pp);
    sum.zzz = p384_product(&a->zzz, &ppp);
    p384_start(&c);
    p384_take_away(&c, &ppp);
    p384_take_away(&c, &q);
    p384_take_away(&c, &q);
    p384_add_square(&c, &r);
    sum.x = p384_reduced(&c);
    const p384_ifma to_x = p384_difference(&q, &sum.x), minus_ppp = p384_opposite(&ppp);
    p384_start(&c);
    p384_add_products(&c, &r, &to_x, &a->y, &minus_ppp);
    sum.y = p384_reduced(&c);
    if (__builtin_expect(mask == 0xff, 1)) {
        *a = sum;
        return;
    }
    store(&a->x, mask, &sum.x);
    store(&a->y, mask, &sum.y);
    store(&a->zz, mask, &sum.zz);
    store(&a->zzz, mask, &sum.zzz);
}

/// Starts the sums of `mask` with (x, y).
P384_TARGET static void start(lane_sums *a, __mmask8 mask, const p384_ifma *x, const p384_ifma *y)
{
    p384_ifma one;
    P384_UNROLL for (int k = 0; k < 8; k++) one.limb[k] = p384_all(k == 0);
    store(&a->x, mask, x);
    store(&a->y, mask, y);
    store(&a->zz, mask, &one);
    store(&a->zzz, mask, &one);
}

/// Adds a group's points of one window of one table.
P384_TARGET static void step(scratch_space *space, size_t group, const p384_table *of, int table, int window)
{
    const p384_digits *digits = &space->scalars.digits;
    const __mmask8 negative = (__mmask8)(digits->negative[table][window] >> (8 * group));
    const __mmask8 present = (__mmask8) ~(digits->zero[table][window] >> (8 * group));
    const __mmask8 empty = space->empty[group];
    p384_ifma x, y;
    look_up(of->point[window], &digits->index[table][window][8 * group], &x, &y);
    P384_UNROLL for (int k = 0; k < 8; k++) {
        y.limb[k] = _mm512_mask_sub_epi64(y.limb[k], negative, p384_all(p384_small_multiple[k]), y.limb[k]);
    }
    if (present & ~empty) add(&space->sum[group], present & ~empty, &x, &y);
    if (present & empty) {
        start(&space->sum[group], present & empty, &x, &y);
        space->empty[group] = empty & ~present;
    }
}

/// The canonical number of one lane; limbs are below 2^52.
static p384_number lane_number(const p384_ifma *a, size_t lane)
{
    uint64_t limb[8], t[12] = {0};
    for (int k = 0; k < 8; k++) memcpy(&limb[k], (const char *)&a->limb[k] + 8 * lane, 8);
    // Three words hold four limbs of 48 bits.
    for (int k = 0; k < 8; k++) {
        const int word = 3 * k / 4, shift = 48 * k % 64;
        const p384_wide sum = ((p384_wide)limb[k] << shift) + t[word];
        t[word] = (uint64_t)sum;
        t[word + 1] += (uint64_t)(sum >> 64);
    }
    p384_number r;
    p384_reduce(&r, t);
    p384_make_canonical(&r);
    return r;
}

static uint8_t verdict_of(const scratch_space *space, size_t i, const p384_number *r)
{
    const size_t group = i / 8, lane = i % 8;
    if (space->scalars.digits.refused >> i & 1 || space->empty[group] >> lane & 1) return CBV_REFUSED;
    const p384_number zz = lane_number(&space->sum[group].zz, lane);
    if (p384_is_zero(&zz)) return CBV_UNDECIDED;
    const p384_number x = lane_number(&space->sum[group].x, lane);
    return cbv_p384_is_equal(&x, &zz, r) ? CBV_VALID : CBV_REFUSED;
}

void cbv_p384_verify_ifma(size_t n, const void *generator, const void *key, const uint64_t *digest,
                           const uint64_t *r, const uint64_t *s, uint8_t *verdict, void *scratch)
{
    const p384_table *const tables[2] = {generator, key};
    scratch_space *space = scratch;
    const size_t groups = (n + 7) / 8;
    cbv_p384_make_digits(n, digest, r, s, &space->scalars);
    memset(space->empty, 0xff, sizeof space->empty);
    // A window's points serve all groups while they are in the nearest cache.
    for (int window = 0; window < P384_WINDOWS; window++) {
        for (int table = 0; table < 2; table++) {
            for (size_t group = 0; group < groups; group++) step(space, group, tables[table], table, window);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const p384_number r_i = p384_read(r + 6 * i);
        verdict[i] = verdict_of(space, i, &r_i);
    }
}

#else

void cbv_p384_verify_ifma(size_t n, const void *generator, const void *key, const uint64_t *digest,
                           const uint64_t *r, const uint64_t *s, uint8_t *verdict, void *scratch)
{
    // No caller comes here: cbv_missing_feature names the processor.
    (void)n, (void)generator, (void)key, (void)digest, (void)r, (void)s, (void)verdict, (void)scratch;
    abort();
}

#endif
