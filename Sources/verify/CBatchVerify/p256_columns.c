// An odd number u below 2^256 is the sum of d(i) 2^i for i from 0 to 255, where d(i) is 1 if bit i + 1 of u is set, else
// -1, and d(255) is 1. Column j, from 0 to 31, has the digits d(j), d(32 + j) ... d(224 + j); they belong to the points
// Q, 2^32 Q ... 2^224 Q. Four of these with their signs make one of 16 sums, of which 8 are the others' opposites: so a
// column is the sum of two entries, and u Q that of the columns, each doubled once more than the one below it.
//
// No inversion may meet a zero, which would spoil all that share it. A point of the curve has the order n, a prime, so
// a Q and b Q, where |a| + |b| is from 1 to below n, have the same x only if a = b or a = -b. Entries and columns add
// combinations of different points, with 1 and -1: never such a pair. What can meet is tested where it stands.
#include "p256_columns.h"

#include <string.h>

#include "p256_order.h"

typedef struct cbv_element element;
typedef struct cbv_affine affine;

/// The sum of two points, whose slope has this height over the width that was inverted.
CBV_INLINE affine follow(const affine *a, const affine *b, element b_y, element inverse) {
    return cbv_affine_follow(a, b->x, cbv_element_multiply(cbv_element_subtract(b_y, a->y), inverse));
}

/// A key's points are kept rather than its multiples, which are as many: a call has a third fewer sums to make for its entries.
CBV_TWICE void cbv_p256_pairs(size_t count, const affine (*base)[CBV_BASES], struct cbv_columns *columns) {
    element *value = columns->value;
    const size_t halves = CBV_HALVES * count;
    for (size_t half = 0; half < halves; half++) {
        const affine *point = &base[half / CBV_HALVES][4 * (half % CBV_HALVES)];
        value[2 * half] = cbv_element_subtract(point[2].x, point[3].x);
        value[2 * half + 1] = cbv_element_subtract(point[0].x, point[1].x);
    }
    cbv_element_invert(value, columns->through, 2 * halves);
    for (size_t half = 0; half < halves; half++) {
        const affine *point = &base[half / CBV_HALVES][4 * (half % CBV_HALVES)];
        for (int pair = 0; pair < 2; pair++) {
            const affine *a = &point[pair ? 1 : 3], *b = &point[pair ? 0 : 2];
            element inverse = value[2 * half + (size_t)pair];
            columns->pair[half][pair][1] = follow(a, b, b->y, inverse);
            columns->pair[half][pair][0] = follow(a, b, cbv_element_negate(b->y), inverse);
        }
    }
}

/// The entries of every key: entry e of a half with the multiples A, B, C, D is D + s C + t B + u A, where the bits 2, 1 and
/// 0 of e are set for plus: the sums and differences of D + s C and B + u A. Two points' sum and difference share an inverse.
CBV_TWICE static void make_entries(size_t count, struct cbv_columns *columns) {
    element *value = columns->value;
    const size_t halves = CBV_HALVES * count;
    for (size_t half = 0; half < halves; half++) {
        const affine(*pair)[2] = columns->pair[half];
        for (int e = 0; e < 4; e++) value[4 * half + (size_t)e] = cbv_element_subtract(pair[1][e & 1].x, pair[0][e >> 1].x);
    }
    cbv_element_invert(value, columns->through, 4 * halves);
    for (size_t half = 0; half < halves; half++) {
        const affine(*pair)[2] = columns->pair[half];
        affine *entry = columns->entry[half / CBV_HALVES][half % CBV_HALVES];
        for (int e = 0; e < 4; e++) {
            const affine *dc = &pair[0][e >> 1], *ba = &pair[1][e & 1];
            element inverse = value[4 * half + (size_t)e];
            entry[4 * (e >> 1) + 2 + (e & 1)] = follow(dc, ba, ba->y, inverse);
            // - B - A, or - B + A.
            entry[4 * (e >> 1) + 1 - (e & 1)] = follow(dc, ba, cbv_element_negate(ba->y), inverse);
        }
    }
}

/// Which entries the columns of a scalar add.
CBV_INLINE void choose_entries(const uint64_t *scalar, uint8_t (*place)[CBV_HALVES], uint8_t (*minus)[CBV_HALVES]) {
    // Bit 256 counts as set.
    uint64_t word[5] = {scalar[3], scalar[2], scalar[1], scalar[0], 1};
    const unsigned is_even = !(word[0] & 1);
    if (is_even) cbv_p256_order_negate(word);
    for (int column = 0; column < CBV_COLUMNS; column++) {
        unsigned digits = 0;
        for (int base = 0; base < CBV_BASES; base++) {
            int bit = 32 * base + column + 1;
            digits |= (unsigned)(word[bit >> 6] >> (bit & 63) & 1) << base;
        }
        if (is_even) digits ^= 0xff;
        for (int half = 0; half < CBV_HALVES; half++) {
            // The half's highest point is positive in all entries.
            unsigned own = digits >> 4 * half & 15, negative = !(own >> 3);
            place[column][half] = (uint8_t)((own ^ (negative ? 15 : 0)) & 7);
            minus[column][half] = (uint8_t)negative;
        }
    }
}

/// The columns of a chunk.
CBV_TWICE static void add_columns(size_t first, size_t chunk, const uint64_t *u2,
                                  struct cbv_columns *columns) {
    const size_t count = chunk * CBV_COLUMNS;
    for (size_t index = 0; index < chunk; index++) {
        size_t start = index * CBV_COLUMNS;
        choose_entries(u2 + 4 * (first + index), columns->place + start, columns->minus + start);
    }
    for (size_t sum = 0; sum < count; sum++) {
        const affine(*entry)[CBV_ENTRIES] = columns->entry[first + sum / CBV_COLUMNS];
        const uint8_t *place = columns->place[sum];
        columns->value[sum] = cbv_element_subtract(entry[1][place[1]].x, entry[0][place[0]].x);
    }
    cbv_element_invert(columns->value, columns->through, count);
    for (size_t sum = 0; sum < count; sum++) {
        const size_t index = first + sum / CBV_COLUMNS;
        const uint8_t *place = columns->place[sum], *minus = columns->minus[sum];
        affine a = columns->entry[index][0][place[0]];
        const affine *b = &columns->entry[index][1][place[1]];
        a.y = cbv_element_signed(a.y, 0 - (uint64_t)minus[0]);
        element y = cbv_element_signed(b->y, 0 - (uint64_t)minus[1]);
        columns->column[sum % CBV_COLUMNS][index] = follow(&a, b, y, columns->value[sum]);
    }
}

/// Three times a point.
static affine thrice(const affine *point) {
    struct cbv_inverses inverses;
    struct cbv_jacobian sum = {point->x, point->y, cbv_element_one};
    cbv_jacobian_double(&sum);
    cbv_jacobian_add(&sum, point, 0);
    affine result;
    cbv_jacobian_normalise(&sum, 1, &result, &inverses);
    return result;
}

/// P = 2 P + S for the columns S from the topmost on: as (P + S) + P, without the y of P + S.
///
/// P and S have the coefficients a and c on the key's multiples, c of 1 and -1, a odd and below 2^31. P = S or P = -S where all a are
/// c or -c: then 2 P + S is 3 P, and |a| is above 1 from there on, or P. P + S = -P cannot be: 2 P + S is u Q in the last
/// step, u being from 1 to below n, and before it the odd 2 a + c are too small for a multiple of n.
CBV_TWICE static void follow_columns(size_t count, struct cbv_columns *columns) {
    affine *p = columns->key;
    element *value = columns->value;
    memcpy(p, columns->column[CBV_COLUMNS - 1], count * sizeof *p);
    for (int column = CBV_COLUMNS - 2; column >= 0; column--) {
        const affine *s = columns->column[column];
        int some = 0;
        for (size_t index = 0; index < count; index++) {
            value[index] = cbv_element_subtract(s[index].x, p[index].x);
            columns->rare[index] = (uint8_t)cbv_element_is_zero(value[index]);
            some |= columns->rare[index];
        }
        for (size_t index = 0; some && index < count; index++) {
            if (!columns->rare[index]) continue;
            columns->kept[index] = cbv_element_equals(s[index].y, p[index].y) ? thrice(&p[index]) : p[index];
            value[index] = cbv_element_one;
        }
        cbv_element_invert(value, columns->through, count);
        for (size_t index = 0; index < count; index++) {
            element slope = cbv_element_multiply(cbv_element_subtract(s[index].y, p[index].y), value[index]);
            element x = cbv_element_subtract(cbv_element_square(slope), p[index].x);
            columns->slope[index] = slope;
            columns->x[index] = cbv_element_subtract(x, s[index].x);
            value[index] = cbv_element_subtract(p[index].x, columns->x[index]);
            if (columns->rare[index]) value[index] = cbv_element_one;
        }
        cbv_element_invert(value, columns->through, count);
        for (size_t index = 0; index < count; index++) {
            element twice = cbv_element_multiply(cbv_element_add(p[index].y, p[index].y), value[index]);
            p[index] = cbv_affine_follow(&p[index], columns->x[index], cbv_element_subtract(twice, columns->slope[index]));
            if (columns->rare[index]) p[index] = columns->kept[index];
        }
    }
}

/// u1 G + u2 Q, where they are two points with different x.
CBV_TWICE static void add_both(size_t count, element *x, uint8_t *is_rare, struct cbv_columns *columns) {
    const affine *g = columns->generator, *q = columns->key;
    element *value = columns->value;
    for (size_t index = 0; index < count; index++) {
        is_rare[index] = !columns->exists[index] || cbv_element_equals(g[index].x, q[index].x);
        value[index] = is_rare[index] ? cbv_element_one : cbv_element_subtract(g[index].x, q[index].x);
    }
    cbv_element_invert(value, columns->through, count);
    for (size_t index = 0; index < count; index++) {
        if (is_rare[index]) continue;
        element slope = cbv_element_multiply(cbv_element_subtract(g[index].y, q[index].y), value[index]);
        x[index] = cbv_element_subtract(cbv_element_square(slope), cbv_element_add(g[index].x, q[index].x));
    }
}

void cbv_p256_columns(size_t count, const uint64_t *u2, struct cbv_columns *columns) {
    make_entries(count, columns);
    for (size_t first = 0; first < count; first += CBV_CHUNK) {
        add_columns(first, count - first < CBV_CHUNK ? count - first : CBV_CHUNK, u2, columns);
    }
}

void cbv_p256_columns_sum(size_t count, const uint64_t *u1, element *x, uint8_t *is_rare,
                          struct cbv_columns *columns) {
    cbv_p256_multiply(count, u1, columns->generator, columns->exists, &columns->sums);
    follow_columns(count, columns);
    add_both(count, x, is_rare, columns);
}
