/// u2 Q by columns, and u1 G + u2 Q for a group that follows them in step, in affine coordinates: signatures share every inversion.
#pragma once

#include "p256_windows.h"

enum {
    /// A key's multiples: Q, 2^32 Q ... 2^224 Q.
    CBV_BASES = 8,
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
    /// The points of the keys: of D and C, then of B and A, the difference and the sum.
    struct cbv_affine pair[CBV_MOST * CBV_HALVES][2][2];
    struct cbv_element slope[CBV_MOST], x[CBV_MOST];
    struct cbv_element value[CBV_COLUMN_SUMS], through[CBV_COLUMN_SUMS + CBV_CHAINS];
    struct cbv_sums sums;
    uint8_t exists[CBV_MOST], rare[CBV_MOST];
    /// Which entry of each half is a column's, and whether its opposite.
    uint8_t place[CBV_COLUMN_SUMS][CBV_HALVES], minus[CBV_COLUMN_SUMS][CBV_HALVES];
};

/// Makes the keys' points in `pair` from their multiples; no key is off the curve.
void cbv_p256_pairs(size_t count, const struct cbv_affine (*base)[CBV_BASES], struct cbv_columns *columns);

/// Makes the columns of u2 Q from the points in `pair`; u2 is from 1 to below the order.
void cbv_p256_columns(size_t count, const uint64_t *u2, struct cbv_columns *columns);

/// The x-coordinates of u1 G + u2 Q, after the columns; u1 is below the order. A rare one is not decided: u1 is 0, or the two
/// points are equal or opposite, which takes the private key. The multiples of G are there either way.
void cbv_p256_columns_sum(size_t count, const uint64_t *u1, struct cbv_element *x, uint8_t *is_rare,
                          struct cbv_columns *columns);
