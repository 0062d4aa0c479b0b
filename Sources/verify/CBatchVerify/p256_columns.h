/// u1 G + u2 Q for a group in affine coordinates: all signatures go in step, and share every inversion.
#pragma once

#include "p256_windows.h"

enum {
    /// A key's points: Q, 2^32 Q ... 2^224 Q.
    CBV_BASES = CBV_P256_POINTS + 1,
    CBV_COLUMNS = 32,
    CBV_HALVES = 2,
    /// The sums of a half's four points, up to their signs.
    CBV_ENTRIES = 8,
    CBV_COLUMN_SUMS = CBV_CHUNK * CBV_COLUMNS,
};

struct cbv_columns {
    struct cbv_affine entry[CBV_MOST][CBV_HALVES][CBV_ENTRIES];
    struct cbv_affine column[CBV_COLUMNS][CBV_MOST];
    struct cbv_affine key[CBV_MOST], generator[CBV_MOST], kept[CBV_MOST];
    /// Sums and differences of two points each: D and C, then B and A.
    struct cbv_affine pair[CBV_MOST * CBV_HALVES][2][2];
    struct cbv_element slope[CBV_MOST], x[CBV_MOST];
    struct cbv_element value[CBV_COLUMN_SUMS], through[CBV_COLUMN_SUMS + CBV_CHAINS];
    struct cbv_sums sums;
    uint8_t exists[CBV_MOST], rare[CBV_MOST];
    /// Which entry of each half is a column's, and whether its opposite.
    uint8_t place[CBV_COLUMN_SUMS][CBV_HALVES], minus[CBV_COLUMN_SUMS][CBV_HALVES];
};

/// The x-coordinates of the sums. is_finite[i] is 0 where the sum is the point at infinity.
///
/// u1 is below the order and u2 from 1 to below it; base has the multiples of points of the curve, for each signature.
void cbv_p256_columns(size_t count, const struct cbv_affine (*base)[CBV_BASES], const uint64_t *u1, const uint64_t *u2,
                      struct cbv_element *x, uint8_t *is_finite, struct cbv_columns *columns);
