/// The multiples of a point: for each window w of 8 bits the points j * 2^(8 w) * P, j = 1 to 128.
#pragma once

#include "p384_scalar.h"

typedef struct {
    p384_number x, y;
} p384_point;

/// 590 KB. Coordinates are canonical; their words lie in memory as the processor reads them.
typedef struct {
    p384_point point[P384_WINDOWS][P384_MULTIPLES];
} p384_table;
