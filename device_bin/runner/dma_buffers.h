/* DMA-BUF memory of this process: what a DSP shares with it (weights, spill-fill, inputs, outputs). */
#ifndef HEAPPROF_DMA_BUFFERS_H
#define HEAPPROF_DMA_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the buffers held by open descriptors, each once; false when the kernel doesn't tell. */
bool dma_buffers_held(uint64_t *bytes);

/* Bytes of the buffers mapped into the address space, descriptor open or not. */
bool dma_buffers_mapped(uint64_t *bytes);

#endif
