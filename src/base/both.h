/* EH_BOTH marks functions that the CUDA backend also compiles for the device. */
#ifndef EH_BOTH_H
#define EH_BOTH_H

#ifdef __CUDACC__
#define EH_BOTH __device__
#else
#define EH_BOTH
#endif

#endif
