/* The part of bionic's <stdint.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_STDINT_H
#define HEAPPROF_BIONIC_STDINT_H

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define UINT32_MAX 0xffffffffu
#define UINT64_MAX 0xfffffffffffffffful

#endif
