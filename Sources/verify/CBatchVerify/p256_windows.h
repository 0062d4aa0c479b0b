/// Multiples of the P-256 generator: a point of a table for each window of the scalar, added in pairs, so that all additions
/// of a round share one inversion.
#pragma once

#include "p256_points.h"

enum {
    /// Bits of a window: groups of 64 take 1.5 % more time with 8, and 2 % less with 10, but then the table takes 852 KB of cache.
    CBV_WINDOW = 9,
    CBV_WINDOWS = 29,
    /// A digit is from -256 to 256.
    CBV_MULTIPLES = 1 << (CBV_WINDOW - 1),
    /// Scalars whose sums are made together: their points stay in the nearest cache.
    CBV_CHUNK = 32,
    CBV_PAIRS = CBV_CHUNK * CBV_WINDOWS / 2,
};

/// Makes the table of these points, 475 KB: once in a process, before a scalar is given.
void cbv_p256_windows_prepare(void);

/// 2^(bits w) G for each window, at most 32, and twice that.
void cbv_p256_window_starts(int bits, size_t windows, struct cbv_affine *start, struct cbv_affine *twice);

/// A point, or its opposite where the mask `minus` is set.
struct cbv_term {
    const struct cbv_affine *point;
    uint64_t minus;
};

/// The terms whose sum is the scalar times the generator, in their order; the scalar is below the order. Returns how many.
size_t cbv_p256_terms(const uint64_t *scalar, struct cbv_term term[CBV_WINDOWS]);

/// Room for the sums of a chunk.
struct cbv_sums {
    struct cbv_term term[CBV_CHUNK][CBV_WINDOWS];
    struct cbv_affine sum[CBV_CHUNK][CBV_WINDOWS / 2];
    struct cbv_element value[CBV_PAIRS], through[CBV_PAIRS + CBV_CHAINS];
    size_t left[CBV_CHUNK];
};

/// Multiples of the generator. exists[i] is 0 where the scalar is 0.
void cbv_p256_multiply(size_t count, const uint64_t *scalar, struct cbv_affine *multiple, uint8_t *exists,
                       struct cbv_sums *sums);
