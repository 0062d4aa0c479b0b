#include "CBatchVerify.h"
#include "p384_invert.h"
#include "p384_table.h"

enum {
    /// Signatures that share inversions: more would leave the cache, fewer would invert more often.
    TOGETHER = 8,
    /// An inversion takes as long as the products that it saves so many additions.
    LEAST_PAIRS = 16,
    /// Points of a signature: a digit of each window of both tables.
    POINTS = 2 * P384_WINDOWS,
};

typedef struct {
    p384_scalars scalars;
    p384_point point[TOGETHER][POINTS];
    p384_number denominator[TOGETHER * POINTS / 2], prefix[TOGETHER * POINTS / 2];
} scratch_space;

_Static_assert(sizeof(scratch_space) > P384_SCRATCH_BETWEEN, "the IFMA engine's scratch is the smaller one");

size_t cbv_p384_scratch_bytes(void)
{
    return (sizeof(scratch_space) + CBV_ALIGNMENT - 1) / CBV_ALIGNMENT * CBV_ALIGNMENT;
}

static const p384_number one = {{1, 0, 0, 0, 0, 0}};

/// Some signatures of a call, and what is left of their points to add.
typedef struct {
    size_t first, n;
    int left[TOGETHER];
    /// Whether an addition of the signature had two points with the same x.
    bool is_exceptional[TOGETHER];
} portion;

/// Gathers the points of a signature's digits.
static void gather(scratch_space *space, portion *part, size_t i, const p384_table *const tables[2])
{
    const p384_digits *digits = &space->scalars.digits;
    const size_t signature = part->first + i;
    int count = 0;
    for (int table = 0; table < 2; table++) {
        for (int window = 0; window < P384_WINDOWS; window++) {
            if (digits->zero[table][window] >> signature & 1) continue;
            p384_point *point = &space->point[i][count++];
            *point = tables[table]->point[window][digits->index[table][window][signature]];
            if (digits->negative[table][window] >> signature & 1) p384_negate(&point->y, &point->y);
        }
    }
    part->left[i] = count;
    part->is_exceptional[i] = false;
}

/// Whether a number is 0 modulo p.
static bool is_nothing(const p384_number *a)
{
    static const p384_number prime = P384_PRIME;
    return __builtin_expect(p384_is_zero(a) || p384_is_same(a, &prime), 0);
}

/// The differences of x of all pairs and their running products; returns the number of pairs.
static size_t multiply_differences(scratch_space *space, portion *part)
{
    p384_number *d = space->denominator, *prefix = space->prefix;
    size_t pairs = 0;
    for (size_t i = 0; i < part->n; i++) {
        for (int j = 0; j + 1 < part->left[i]; j += 2) {
            p384_subtract(&d[pairs], &space->point[i][j + 1].x, &space->point[i][j].x);
            if (is_nothing(&d[pairs])) {
                // It would void the products of all.
                d[pairs] = one;
                part->is_exceptional[i] = true;
            }
            if (pairs == 0) prefix[0] = d[0];
            else p384_multiply(&prefix[pairs], &prefix[pairs - 1], &d[pairs]);
            pairs++;
        }
    }
    return pairs;
}

/// a + b, given 1 / (b.x - a.x).
static p384_point sum(const p384_point *a, const p384_point *b, const p384_number *inverse)
{
    p384_number slope;
    p384_point r;
    p384_subtract(&slope, &b->y, &a->y);
    p384_multiply(&slope, &slope, inverse);
    p384_square(&r.x, &slope);
    p384_subtract(&r.x, &r.x, &a->x);
    p384_subtract(&r.x, &r.x, &b->x);
    p384_subtract(&r.y, &a->x, &r.x);
    p384_multiply(&r.y, &r.y, &slope);
    p384_subtract(&r.y, &r.y, &a->y);
    return r;
}

/// Adds the points in pairs, which halves their number, with one inversion; returns false where few pairs are left.
static bool add_pairs(scratch_space *space, portion *part)
{
    int left = 0;
    for (size_t i = 0; i < part->n; i++) left += part->left[i] / 2;
    if (left < LEAST_PAIRS) return false;
    size_t pair = multiply_differences(space, part);
    p384_number rest, inverse;
    cbv_p384_field_invert(&rest, &space->prefix[pair - 1]);
    // From the last pair to the first: `rest` is the inverse of the product up to the pair.
    for (size_t i = part->n; i-- > 0;) {
        p384_point *point = space->point[i];
        for (int j = part->left[i] / 2; j-- > 0;) {
            pair--;
            inverse = rest;
            if (pair > 0) {
                p384_multiply(&inverse, &rest, &space->prefix[pair - 1]);
                p384_multiply(&rest, &rest, &space->denominator[pair]);
            }
            // The second place of a pair is read before any sum reaches it.
            point[2 * j + 1] = sum(&point[2 * j], &point[2 * j + 1], &inverse);
        }
        const int pairs = part->left[i] / 2, odd = part->left[i] % 2;
        for (int j = 0; j < pairs; j++) point[j] = point[2 * j + 1];
        if (odd) point[pairs] = point[2 * pairs];
        part->left[i] = pairs + odd;
    }
    return true;
}

/// The sum of a signature's points in Jacobian coordinates, where no addition inverts: returns z^2, and puts x z^2 into x.
static p384_number add_rest(const p384_point *point, portion *part, size_t i, p384_number *x)
{
    p384_number y = point[0].y, z = one, zz = one, h, hh, r, s, v;
    *x = point[0].x;
    for (int j = 1; j < part->left[i]; j++) {
        p384_multiply(&h, &point[j].x, &zz);
        p384_subtract(&h, &h, x);
        if (is_nothing(&h)) part->is_exceptional[i] = true;
        p384_multiply(&s, &zz, &z);
        p384_multiply(&s, &s, &point[j].y);
        p384_subtract(&r, &s, &y);
        p384_square(&hh, &h);
        p384_multiply(&v, x, &hh);
        p384_multiply(&hh, &hh, &h);
        p384_square(x, &r);
        p384_subtract(x, x, &hh);
        p384_subtract(x, x, &v);
        p384_subtract(x, x, &v);
        p384_subtract(&v, &v, x);
        p384_multiply(&v, &v, &r);
        p384_multiply(&y, &y, &hh);
        p384_subtract(&y, &v, &y);
        p384_multiply(&z, &z, &h);
        p384_square(&zz, &z);
    }
    return zz;
}

static uint8_t verdict_of(const scratch_space *space, portion *part, size_t i, const uint64_t *r)
{
    if (part->left[i] == 0) return CBV_REFUSED;
    p384_number x, zz = add_rest(space->point[i], part, i, &x);
    if (part->is_exceptional[i]) return CBV_UNDECIDED;
    const p384_number r_i = p384_read(r + 6 * (part->first + i));
    p384_make_canonical(&x);
    p384_make_canonical(&zz);
    return cbv_p384_is_equal(&x, &zz, &r_i) ? CBV_VALID : CBV_REFUSED;
}

void cbv_p384_verify_portable(size_t n, const void *generator, const void *key, const uint64_t *digest,
                              const uint64_t *r, const uint64_t *s, uint8_t *verdict, void *scratch)
{
    const p384_table *const tables[2] = {generator, key};
    scratch_space *space = scratch;
    cbv_p384_make_digits(n, digest, r, s, &space->scalars);
    for (size_t first = 0; first < n; first += TOGETHER) {
        portion part = {.first = first, .n = n - first < TOGETHER ? n - first : TOGETHER};
        for (size_t i = 0; i < part.n; i++) gather(space, &part, i, tables);
        while (add_pairs(space, &part)) {}
        for (size_t i = 0; i < part.n; i++) verdict[first + i] = verdict_of(space, &part, i, r);
    }
}
