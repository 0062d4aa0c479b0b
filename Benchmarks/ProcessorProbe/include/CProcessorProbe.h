/// What the processor does in a cycle, measured.
#pragma once

/// vpmadd52 instructions of 512 bits per clock cycle; 0 where the processor has none.
double probe_madd52_per_cycle(void);
