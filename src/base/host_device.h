/* EH_HOST_DEVICE marks functions that the CUDA backend also compiles for the device. */
#ifndef EH_HOST_DEVICE_H
#define EH_HOST_DEVICE_H

#ifdef __CUDACC__
#define EH_HOST_DEVICE __device__
#else
#define EH_HOST_DEVICE
#endif

#endif
