/// What the processor does in a cycle, measured.
#pragma once

/// vpmadd52 instructions of 512 bits per clock cycle; 0 where the processor has none.
double probe_madd52_per_cycle(void);

/// Binds every thread of the process, and those that they start, to the first of its cores. 0 = it could not be done.
int probe_bind_to_one_core(void);

/// Gives all cores back.
void probe_unbind(void);
