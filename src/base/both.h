/* Marks what the cuda backend compiles for the device as well. */
#ifndef EH_BOTH_H
#define EH_BOTH_H

#ifdef __CUDACC__
#define EH_BOTH __device__
#else
#define EH_BOTH
#endif

#endif
