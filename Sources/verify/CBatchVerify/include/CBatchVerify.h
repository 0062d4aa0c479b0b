/// ECDSA verification of many signatures at once: P-256 with a key per signature, P-384 with fixed keys.
///
/// Public data only: the time that a call takes depends on its input. Nothing here allocates or keeps state.
///
/// A number is an array of 64-bit words, the most significant first: 4 words for P-256, 6 for P-384. Arrays hold the
/// numbers of n signatures one after the other. A verdict is a byte for each signature.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /// The signature is not valid: r or s is out of range, the point is not on the curve, or the equation fails.
    CBV_REFUSED = 0,
    CBV_VALID = 1,
    /// An addition met one of its exceptions: another implementation must decide.
    CBV_UNDECIDED = 2,
};

enum {
    /// The most signatures of a call.
    CBV_MOST = 64,
    /// How many multiples of a P-256 key Q verification wants to have: D - C, D + C, B - A and B + A, where A, B, C and D are Q, 2^32 Q,
    /// 2^64 Q and 2^96 Q; then the same of 2^128 Q.
    CBV_P256_POINTS = 8,
    /// Alignment of scratch and tables, in bytes.
    CBV_ALIGNMENT = 64,
};

/// Names a feature of the processor or the system that the IFMA engine needs and that is missing here; NULL where all are
/// there. The functions that end in _ifma may only be called then.
const char *cbv_missing_feature(void);

/// Makes the generator's tables: once in a process, before any other call for P-256; 475 and 262 KB.
void cbv_p256_prepare(void);

/// Whether (x, y) is a point of the curve, coordinates below p.
int cbv_p256_is_on_curve(const uint64_t *x, const uint64_t *y);

/// Bytes of the caller's scratch, aligned to CBV_ALIGNMENT; not for a small stack.
size_t cbv_p256_scratch_bytes(void);

/// The points of each key (x, y), one after the other: 8 words each, coordinates times 2^256 modulo p, x before y. A key off
/// the curve gives zeros.
void cbv_p256_points_ifma(size_t n, const uint64_t *x, const uint64_t *y, uint64_t *points, void *scratch);
void cbv_p256_points_portable(size_t n, const uint64_t *x, const uint64_t *y, uint64_t *points, void *scratch);

/// ECDSA verification over P-256.
///
/// n is 1 to CBV_MOST, points what cbv_p256_points_* made of the public key, digest what ECDSA sees.
void cbv_p256_verify_ifma(size_t n, const uint64_t *points, const uint64_t *digest, const uint64_t *r,
                           const uint64_t *s, uint8_t *verdict, void *scratch);
void cbv_p256_verify_portable(size_t n, const uint64_t *points, const uint64_t *digest, const uint64_t *r,
                              const uint64_t *s, uint8_t *verdict, void *scratch);

/// Bytes of the multiples of one P-384 point, aligned to CBV_ALIGNMENT.
size_t cbv_p384_table_bytes(void);

/// Makes the table of the point (x, y), which must be on the curve: the key's, or the generator's.
void cbv_p384_table_make(const uint64_t *x, const uint64_t *y, void *table);

size_t cbv_p384_scratch_bytes(void);

/// ECDSA verification over P-384 with one key: n is 1 to CBV_MOST; generator and key are tables.
void cbv_p384_verify_ifma(size_t n, const void *generator, const void *key, const uint64_t *digest,
                           const uint64_t *r, const uint64_t *s, uint8_t *verdict, void *scratch);
void cbv_p384_verify_portable(size_t n, const void *generator, const void *key, const uint64_t *digest,
                              const uint64_t *r, const uint64_t *s, uint8_t *verdict, void *scratch);

// What follows is for the lab, whose keys are not secret: fake devices and authorities multiply and sign in variable
// time.

/// Bytes of the scratch of the calls below, aligned to CBV_ALIGNMENT.
size_t cbv_lab_scratch_bytes(void);

/// Replaces numbers by their remainders modulo the order, and a remainder of 0 by 1.
void cbv_lab_p256_reduce(size_t n, uint64_t *number);
void cbv_lab_p384_reduce(size_t n, uint64_t *number);

/// Multiples of the generator, as x || y. n is 1 to CBV_MOST, and scalars are from 1 to below the order.
void cbv_lab_p256_multiply(size_t n, const uint64_t *scalar, uint64_t *xy, void *scratch);

/// ECDSA signatures by the keys d with the nonces k, all from 1 to below the order. A signature whose r or s would be
/// 0 is all zeros.
void cbv_lab_p256_sign(size_t n, const uint64_t *d, const uint64_t *k, const uint64_t *digest, uint64_t *r, uint64_t *s,
                       void *scratch);

/// The same over P-384; `generator` is the generator's table.
void cbv_lab_p384_multiply(size_t n, const void *generator, const uint64_t *scalar, uint64_t *xy, void *scratch);
void cbv_lab_p384_sign(size_t n, const void *generator, const uint64_t *d, const uint64_t *k, const uint64_t *digest,
                       uint64_t *r, uint64_t *s, void *scratch);
