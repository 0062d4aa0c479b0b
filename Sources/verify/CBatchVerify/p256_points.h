/// Points of P-256 for the portable engine.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "CBatchVerify.h"
#include "p256_field.h"

/// A point (x, y), never the one at infinity.
struct cbv_affine {
    struct cbv_element x, y;
};

/// The point (x / z^2, y / z^3); z = 0 is the one at infinity.
struct cbv_jacobian {
    struct cbv_element x, y, z;
};

struct cbv_affine cbv_p256_generator(void);

/// y^2 = x^3 - 3 x + b.
int cbv_affine_is_on_curve(const struct cbv_affine *point);

/// Reads x and y, words with the most significant first. 0 where one is not below p or the point is not on the curve.
int cbv_affine_read(const uint64_t *x, const uint64_t *y, struct cbv_affine *point);

/// The point that is kept as elements, words with the most significant first; nothing is checked.
struct cbv_affine cbv_affine_load(const uint64_t *xy);
/// Writes it so.
void cbv_affine_store(struct cbv_affine point, uint64_t *xy);

/// Whether a key has points: 0 where it is off the curve. (0, 0) is.
int cbv_p256_has_points(const uint64_t *points);
/// The points of the first key that has some, which stand in for those of keys off the curve; NULL where none has.
const uint64_t *cbv_p256_stand_in(size_t count, const uint64_t *points);

void cbv_jacobian_double(struct cbv_jacobian *point);

/// Adds or, where `negative`, subtracts. Right for all points.
void cbv_jacobian_add(struct cbv_jacobian *sum, const struct cbv_affine *point, int negative);

enum {
    /// The most points of a call below.
    CBV_MOST_POINTS = CBV_P256_POINTS * CBV_MOST,
    /// Chains of products of a shared inversion, so that no product waits for the one before it.
    CBV_CHAINS = 4,
};

/// Room for one inversion that many points share.
struct cbv_inverses {
    struct cbv_element value[CBV_MOST_POINTS], through[CBV_MOST_POINTS + CBV_CHAINS];
};

/// Replaces values by their inverses; `through` has room for CBV_CHAINS more. A single zero makes all of them wrong.
void cbv_element_invert(struct cbv_element *value, struct cbv_element *through, size_t count);

/// The points as affine ones, none of them at infinity.
void cbv_jacobian_normalise(const struct cbv_jacobian *point, size_t count, struct cbv_affine *affine,
                            struct cbv_inverses *inverses);

/// The sum of two points, where the line through them has this slope; `other_x` belongs to the second one.
CBV_INLINE struct cbv_affine cbv_affine_follow(const struct cbv_affine *point, struct cbv_element other_x,
                                               struct cbv_element slope) {
    struct cbv_affine sum;
    sum.x = cbv_element_subtract(cbv_element_subtract(cbv_element_square(slope), point->x), other_x);
    sum.y = cbv_element_multiply(slope, cbv_element_subtract(point->x, sum.x));
    sum.y = cbv_element_subtract(sum.y, point->y);
    return sum;
}

/// sum[stride i] = a[stride i] + b[i], where no two points are equal or opposite.
void cbv_affine_add(const struct cbv_affine *a, size_t stride, const struct cbv_affine *b, size_t count,
                    struct cbv_affine *sum, struct cbv_inverses *inverses);

/// twice[i] = 2 point[i].
void cbv_affine_double(const struct cbv_affine *point, size_t count, struct cbv_affine *twice,
                       struct cbv_inverses *inverses);
