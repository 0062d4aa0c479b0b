// ECDSA over P-256 in lanes of eight: AVX-512 with IFMA.
//
// u2 Q by columns, as p256_columns.c explains them, and u1 G from a table for each byte of u1. Entries, columns and the
// first sums of G are affine, and all groups share their inversions; the columns are followed in Jacobian coordinates. There
// 2 P is never S or -S: 2 P has even coefficients, S odd ones, and all sums but the last are far below n. The last one may
// differ by n, for a u2 that any sender can choose: so a term of G, which he cannot meet without the private key, comes
// before it. A scalar is made odd by a change of its sign; then every window has a digit that is not zero, and no lane ever
// skips an addition.

#include "CBatchVerify.h"
#include "p256_ifma.h"

#if defined(__x86_64__)

#include <string.h>

#include "p256_ifma_base.h"
#include "p256_ifma_keys.h"
#include "p256_order.h"

enum {
    GROUPS = CBV_MOST / 8,
    /// A key's multiples: Q, 2^32 Q ... 2^224 Q.
    BASES = 8,
    POINT_WORDS = 8 * CBV_P256_POINTS,
    HALVES = 2,
    ENTRIES = 8,
    COLUMNS = 32,
    /// Sums of the generator's terms: of two windows each, then of four. Of more, a sum and its neighbour might be equal.
    PAIRS = P256_BASE_WINDOWS / 2,
    FOURS = P256_BASE_WINDOWS / 4,
};

/// A scalar of each lane as words, the least significant first; the lanes whose sign was changed.
typedef struct {
    lane word[5];
    __mmask8 negated;
} scalars;

/// Eight signatures.
typedef struct {
    scalars u1, u2;
    /// The key's points: of D and C, then of B and A, the difference and the sum.
    affine pair[HALVES][2][2];
    affine entry[HALVES][ENTRIES];
    /// Terms of u1 G, of which the first ones become sums; the lanes that want their opposites.
    affine term[P256_BASE_WINDOWS];
    __mmask8 minus[P256_BASE_WINDOWS];
    __mmask8 usable;
} group;

typedef struct {
    group groups[GROUPS];
    /// No inversion takes more values of a group than that of its columns.
    element value[GROUPS * COLUMNS], prefix[GROUPS * COLUMNS + CHAINS];
    point points[GROUPS][BASES];
    affine base[GROUPS][BASES];
    uint64_t u1[4 * CBV_MOST], u2[4 * CBV_MOST];
    uint8_t sound[CBV_MOST];
} workspace;

size_t cbv_p256_ifma_scratch_bytes(void) { return sizeof(workspace); }

/// The numbers, or the order minus them where they are even; 1 in the lanes from `count` on.
IFMA static scalars load_odd(size_t count, const uint64_t *numbers) {
    uint64_t negated[8][4];
    const uint64_t *from[8];
    unsigned mask = 0;
    for (size_t i = 0; i < 8; i++) {
        from[i] = i < count ? numbers + 4 * i : p256_one;
        if (from[i][3] & 1) continue;
        p256_negate_scalar(from[i], negated[i]);
        from[i] = negated[i];
        mask |= 1u << i;
    }
    scalars result;
    load_words(from, result.word);
    result.word[4] = _mm512_setzero_si512();
    result.negated = (__mmask8)mask;
    return result;
}

/// The bits above `position` of the scalars, `width` of them.
INLINE lane bits_above(const scalars *s, int position, int width) {
    int first = position + 1;
    lane low = _mm512_srl_epi64(s->word[first / 64], _mm_cvtsi32_si128(first % 64));
    lane high = _mm512_sll_epi64(s->word[first / 64 + 1], _mm_cvtsi32_si128(64 - first % 64));
    return _mm512_and_si512(_mm512_or_si512(low, high), constant((1ll << width) - 1));
}

/// The odd digit d of a window below the topmost: the index (|d| - 1) / 2 and the lanes whose term is negative.
INLINE lane digit(const scalars *s, int position, int width, __mmask8 *negative) {
    const lane half = constant(1ll << (width - 1));
    lane bits = bits_above(s, position, width);
    __mmask8 below = _mm512_cmplt_epu64_mask(bits, half);
    *negative = below ^ s->negated;
    lane magnitude = _mm512_mask_andnot_epi64(bits, below, bits, constant(-1));
    return _mm512_and_si512(magnitude, _mm512_sub_epi64(half, constant(1)));
}

/// Eight rows of eight words become columns.
INLINE void transpose(lane r[8]) {
    lane pairs[8], quads[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int j = 0; j < 2; j++) {
            quads[i + j] = _mm512_shuffle_i64x2(pairs[i + j], pairs[i + j + 2], 0x88);
            quads[i + j + 2] = _mm512_shuffle_i64x2(pairs[i + j], pairs[i + j + 2], 0xDD);
        }
    }
    for (int j = 0; j < 4; j++) {
        r[j] = _mm512_shuffle_i64x2(quads[j], quads[j + 4], 0x88);
        r[j + 4] = _mm512_shuffle_i64x2(quads[j], quads[j + 4], 0xDD);
    }
}

/// The entry of a table that each lane asks for.
INLINE affine base_multiple(const uint64_t (*table)[8], lane index) {
    int64_t place[8];
    _mm512_storeu_si512(place, index);
    lane rows[8];
    for (int i = 0; i < 8; i++) rows[i] = _mm512_load_si512(table[place[i]]);
    transpose(rows);
    return (affine){limbs_of(rows), limbs_of(rows + 4)};
}

/// The points of a group's keys.
__attribute__((noinline)) IFMA static void load_pairs(size_t count, const uint64_t *points, const uint64_t *stand_in,
                                                       group *g) {
    const uint64_t *own[8];
    unsigned usable = 0;
    for (size_t i = 0; i < 8; i++) {
        bool is_usable = i < count && cbv_p256_has_points(points + POINT_WORDS * i);
        own[i] = is_usable ? points + POINT_WORDS * i : stand_in;
        usable |= (unsigned)is_usable << i;
    }
    g->usable = (__mmask8)usable;
    affine *pair = &g->pair[0][0][0];
    for (size_t k = 0; k < CBV_P256_POINTS; k++) {
        const uint64_t *xs[8], *ys[8];
        for (size_t i = 0; i < 8; i++) {
            xs[i] = own[i] + 8 * k;
            ys[i] = xs[i] + 4;
        }
        pair[k] = (affine){load_times(xs, kept_limbs), load_times(ys, kept_limbs)};
    }
}

/// The terms of u1 G.
__attribute__((noinline)) IFMA static void load_terms(group *g) {
    for (int window = 0; window < P256_BASE_WINDOWS; window++) {
        const int position = P256_BASE_BITS * window;
        lane index;
        if (window == P256_BASE_WINDOWS - 1) {
            index = bits_above(&g->u1, position, P256_BASE_BITS);
            g->minus[window] = g->u1.negated;
        } else {
            index = digit(&g->u1, position, P256_BASE_BITS, &g->minus[window]);
        }
        g->term[window] = base_multiple(cbv_p256_ifma_base[window], index);
    }
}

/// The sum of two points, or the first less the second in the lanes of `opposite`; `inverse` is that of their width.
INLINE affine followed(affine a, affine b, __mmask8 opposite, element inverse) {
    element rise = difference((element){0}, a.y);
    for (int i = 0; i < 5; i++) {
        lane plus = _mm512_add_epi64(rise.limb[i], b.y.limb[i]);
        rise.limb[i] = _mm512_mask_sub_epi64(plus, opposite, rise.limb[i], b.y.limb[i]);
    }
    element slope = mul(carried(plus_p(rise, 4)), inverse);              // 6 p, 1.3 p: 1.5 p
    affine result;
    result.x = folded(plus_p(difference(raw_square(slope), sum(a.x, b.x)), 4));
    element rest = carried(plus_p(difference(a.x, result.x), 2));        // 4 p
    result.y = folded(plus_p(difference(raw_product(slope, rest), a.y), 2));
    return result;
}

/// What is inverted for a sum of two points: never zero modulo p.
INLINE element width(affine a, affine b) { return carried(plus_p(difference(b.x, a.x), 2)); }

/// The first sums of the terms.
IFMA static void add_terms(size_t count, workspace *w) {
    element *value = w->value;
    for (size_t i = 0; i < count; i++) {
        const group *g = &w->groups[i];
        for (int k = 0; k < PAIRS; k++) *value++ = width(g->term[2 * k], g->term[2 * k + 1]);
    }
    invert_all((size_t)(value - w->value), w->value, w->prefix);
    value = w->value;
    for (size_t i = 0; i < count; i++) {
        group *g = &w->groups[i];
        for (int k = 0; k < PAIRS; k++, value++) {
            // The sum has the sign of its first term.
            __mmask8 opposite = g->minus[2 * k] ^ g->minus[2 * k + 1];
            g->term[k] = followed(g->term[2 * k], g->term[2 * k + 1], opposite, *value);
            g->minus[k] = g->minus[2 * k];
        }
    }
}

/// The entries, numbered as in p256_columns.c.
IFMA static void make_entries(size_t count, workspace *w) {
    element *value = w->value;
    for (size_t i = 0; i < count; i++) {
        const group *g = &w->groups[i];
        for (int half = 0; half < HALVES; half++) {
            for (int e = 0; e < 4; e++) *value++ = width(g->pair[half][0][e >> 1], g->pair[half][1][e & 1]);
        }
        for (int k = 0; k < FOURS; k++) *value++ = width(g->term[2 * k], g->term[2 * k + 1]);
    }
    invert_all((size_t)(value - w->value), w->value, w->prefix);
    value = w->value;
    for (size_t i = 0; i < count; i++) {
        group *g = &w->groups[i];
        for (int half = 0; half < HALVES; half++) {
            for (int e = 0; e < 4; e++, value++) {
                const affine *dc = &g->pair[half][0][e >> 1], *ba = &g->pair[half][1][e & 1];
                g->entry[half][4 * (e >> 1) + 2 + (e & 1)] = followed(*dc, *ba, 0, *value);
                g->entry[half][4 * (e >> 1) + 1 - (e & 1)] = followed(*dc, *ba, 0xFF, *value);
            }
        }
        for (int k = 0; k < FOURS; k++, value++) {
            __mmask8 opposite = g->minus[2 * k] ^ g->minus[2 * k + 1];
            g->term[k] = followed(g->term[2 * k], g->term[2 * k + 1], opposite, *value);
            g->minus[k] = g->minus[2 * k];
        }
    }
}

/// Which entry of each half a column adds; the lanes where the second one's opposite, and those where the opposite of the
/// whole column is meant.
typedef struct {
    lane place[HALVES];
    __mmask8 opposite, minus;
} choice;

INLINE choice chosen(const scalars *u, int column) {
    const lane seven = constant(7);
    lane digits = _mm512_setzero_si512();
    for (int base = 0; base < BASES; base++) {
        int bit = 32 * base + column + 1;
        lane one = _mm512_and_si512(_mm512_srl_epi64(u->word[bit / 64], _mm_cvtsi32_si128(bit % 64)), constant(1));
        digits = _mm512_or_si512(digits, _mm512_sll_epi64(one, _mm_cvtsi32_si128(base)));
    }
    digits = _mm512_mask_xor_epi64(digits, u->negated, digits, constant(0xFF));
    choice result;
    __mmask8 negative[HALVES];
    for (int half = 0; half < HALVES; half++) {
        // The half's highest point is positive in all entries.
        lane own = _mm512_srl_epi64(digits, _mm_cvtsi32_si128(4 * half));
        negative[half] = _mm512_testn_epi64_mask(own, constant(8));
        result.place[half] = _mm512_and_si512(_mm512_mask_xor_epi64(own, negative[half], own, seven), seven);
    }
    result.opposite = negative[0] ^ negative[1];
    result.minus = negative[0];
    return result;
}

/// A coordinate of the entry that each lane asks for.
INLINE element picked(const affine entry[ENTRIES], lane place, bool is_y) {
    element result = is_y ? entry[0].y : entry[0].x;
    for (int e = 1; e < ENTRIES; e++) {
        __mmask8 here = _mm512_cmpeq_epi64_mask(place, constant(e));
        result = selected(here, result, is_y ? entry[e].y : entry[e].x);
    }
    return result;
}

__attribute__((noinline)) IFMA static element column_width(const group *g, int column) {
    const choice c = chosen(&g->u2, column);
    affine a = {.x = picked(g->entry[0], c.place[0], false)}, b = {.x = picked(g->entry[1], c.place[1], false)};
    return width(a, b);
}

__attribute__((noinline)) IFMA static affine column_sum(const group *g, int column, element inverse, __mmask8 *minus) {
    const choice c = chosen(&g->u2, column);
    affine a = {picked(g->entry[0], c.place[0], false), picked(g->entry[0], c.place[0], true)};
    affine b = {picked(g->entry[1], c.place[1], false), picked(g->entry[1], c.place[1], true)};
    *minus = c.minus;
    return followed(a, b, c.opposite, inverse);
}

__attribute__((noinline)) IFMA static void double_point(point *p) { *p = doubled(*p); }
__attribute__((noinline)) IFMA static void add_point(point *p, affine q, __mmask8 minus) { *p = added(*p, q, minus); }

/// u1 G + u2 Q; `inverse` has one for each column.
IFMA static point combined(const group *g, const element *inverse) {
    __mmask8 minus;
    affine top = column_sum(g, COLUMNS - 1, inverse[COLUMNS - 1], &minus);
    element opposite = carried(plus_p(difference((element){0}, top.y), 2));
    point p = {top.x, selected(minus, top.y, opposite), broadcast(r_limbs)};
    for (int column = COLUMNS - 2; column >= 0; column--) {
        affine q = column_sum(g, column, inverse[column], &minus);
        double_point(&p);
        if (column == 0) add_point(&p, g->term[0], g->minus[0]);
        add_point(&p, q, minus);
    }
    for (int k = 1; k < FOURS; k++) add_point(&p, g->term[k], g->minus[k]);
    return p;
}

/// Whether the point's x is r modulo the order; the lanes whose point cannot be judged.
IFMA static __mmask8 has_x(point p, size_t count, const uint64_t *r, __mmask8 *unclear) {
    const uint64_t *from[8];
    unsigned below = 0;
    for (size_t i = 0; i < 8; i++) {
        from[i] = i < count ? r + 4 * i : p256_one;
        below |= (unsigned)p256_is_less(from[i], p256_prime_over_order) << i;
    }
    element square = sqr(p.z), x = load_element(from);
    element other = carried(sum(x, broadcast(order_limbs)));
    __mmask8 equal = is_zero(carried(plus_p(difference(p.x, raw_product(x, square)), 2)));
    __mmask8 wrapped = is_zero(carried(plus_p(difference(p.x, raw_product(other, square)), 2)));
    *unclear = is_zero(p.z);
    return equal | (wrapped & (__mmask8)below);
}

IFMA void cbv_p256_verify_ifma(size_t n, const uint64_t *points, const uint64_t *digest, const uint64_t *r,
                                 const uint64_t *s, uint8_t *verdict, void *scratch) {
    workspace *w = scratch;
    const size_t groups = (n + 7) / 8;
    const uint64_t *stand_in = cbv_p256_stand_in(n, points);
    if (!stand_in) {
        memset(verdict, CBV_REFUSED, n);
        return;
    }
    cbv_p256_scalars(n, digest, r, s, w->u1, w->u2, w->sound);
    for (size_t i = 0; i < groups; i++) {
        group *g = &w->groups[i];
        const size_t first = 8 * i, left = n - first, count = left < 8 ? left : 8;
        g->u1 = load_odd(count, w->u1 + 4 * first);
        g->u2 = load_odd(count, w->u2 + 4 * first);
        // Bit 256 of a scalar counts as set: see p256_columns.c.
        g->u2.word[4] = constant(1);
        load_pairs(count, points + POINT_WORDS * first, stand_in, g);
        load_terms(g);
    }
    add_terms(groups, w);
    make_entries(groups, w);
    for (size_t k = 0; k < groups * COLUMNS; k++) w->value[k] = column_width(&w->groups[k / COLUMNS], k % COLUMNS);
    invert_all(groups * COLUMNS, w->value, w->prefix);
    for (size_t i = 0; i < groups; i++) {
        const group *g = &w->groups[i];
        const size_t first = 8 * i, count = n - first < 8 ? n - first : 8;
        point p = combined(g, &w->value[COLUMNS * i]);
        __mmask8 unclear;
        __mmask8 valid = has_x(p, count, r + 4 * first, &unclear);
        for (size_t k = 0; k < count; k++) {
            bool is_sound = w->sound[first + k] && (g->usable >> k & 1);
            uint8_t judged = valid >> k & 1 ? CBV_VALID : CBV_REFUSED;
            verdict[first + k] = !is_sound ? CBV_REFUSED : unclear >> k & 1 ? CBV_UNDECIDED : judged;
        }
    }
}

/// Writes an affine point of each key of a group; zeros where they are not usable.
IFMA static void store_points(size_t count, affine p, __mmask8 usable, uint64_t *to) {
    lane words[8];
    uint64_t word[8][8];
    words_of(plain(p.x), words);
    words_of(plain(p.y), words + 4);
    for (int i = 0; i < 8; i++) _mm512_storeu_si512(word[i], _mm512_maskz_mov_epi64(usable, words[i]));
    for (size_t j = 0; j < count; j++) {
        struct cbv_element x = {{word[0][j], word[1][j], word[2][j], word[3][j]}};
        struct cbv_element y = {{word[4][j], word[5][j], word[6][j], word[7][j]}};
        cbv_affine_store((struct cbv_affine){cbv_element_of(x), cbv_element_of(y)}, to + POINT_WORDS * j);
    }
}

/// The points of all keys, from their multiples.
IFMA static void make_pairs(size_t count, workspace *w) {
    element *value = w->value;
    for (size_t i = 0; i < count; i++) {
        for (const affine *base = w->base[i]; base < w->base[i] + BASES; base += 2) *value++ = width(base[1], base[0]);
    }
    invert_all((size_t)(value - w->value), w->value, w->prefix);
    value = w->value;
    for (size_t i = 0; i < count; i++) {
        for (int half = 0; half < HALVES; half++) {
            const affine *base = &w->base[i][4 * half];
            affine(*pair)[2] = w->groups[i].pair[half];
            for (int k = 1; k >= 0; k--, value++) {
                const affine a = base[3 - 2 * k], b = base[2 - 2 * k];
                pair[k][0] = followed(a, b, 0xFF, *value);
                pair[k][1] = followed(a, b, 0, *value);
            }
        }
    }
}

IFMA void cbv_p256_points_ifma(size_t n, const uint64_t *x, const uint64_t *y, uint64_t *points, void *scratch) {
    workspace *w = scratch;
    const size_t groups = (n + 7) / 8;
    for (size_t i = 0; i < groups; i++) {
        affine q = load_points(n - 8 * i, x + 32 * i, y + 32 * i, &w->groups[i].usable);
        point p = {q.x, q.y, broadcast(r_limbs)};
        for (int k = 0; k < BASES; k++) {
            for (int j = 0; k > 0 && j < COLUMNS; j++) double_point(&p);
            w->points[i][k] = p;
            w->value[BASES * i + k] = p.z;
        }
    }
    invert_all(BASES * groups, w->value, w->prefix);
    for (size_t k = 0; k < BASES * groups; k++) {
        w->base[k / BASES][k % BASES] = normalized(w->points[k / BASES][k % BASES], w->value[k]);
    }
    make_pairs(groups, w);
    for (size_t i = 0; i < groups; i++) {
        const affine *pair = &w->groups[i].pair[0][0][0];
        const size_t left = n - 8 * i;
        for (size_t k = 0; k < CBV_P256_POINTS; k++) {
            store_points(left < 8 ? left : 8, pair[k], w->groups[i].usable, points + 8 * POINT_WORDS * i + 8 * k);
        }
    }
}

#else

#include <stdlib.h>

// cbv_missing_feature() says that there is no IFMA here.

size_t cbv_p256_ifma_scratch_bytes(void) { return 0; }

void cbv_p256_verify_ifma(size_t n, const uint64_t *points, const uint64_t *digest, const uint64_t *r,
                           const uint64_t *s, uint8_t *verdict, void *scratch) {
    (void)n, (void)points, (void)digest, (void)r, (void)s, (void)verdict, (void)scratch;
    abort();
}

void cbv_p256_points_ifma(size_t n, const uint64_t *x, const uint64_t *y, uint64_t *points, void *scratch) {
    (void)n, (void)x, (void)y, (void)points, (void)scratch;
    abort();
}

#endif
