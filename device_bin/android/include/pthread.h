/* The part of bionic's <pthread.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_PTHREAD_H
#define HEAPPROF_BIONIC_PTHREAD_H

#include <stdint.h>

typedef long pthread_t;
typedef struct {
    int32_t private[10];
} pthread_mutex_t;
typedef struct {
    int32_t private[12];
} pthread_cond_t;
typedef int pthread_once_t;
typedef long pthread_mutexattr_t;
typedef long pthread_condattr_t;
struct pthread_attr;

#define PTHREAD_MUTEX_INITIALIZER {{0}}
#define PTHREAD_ONCE_INIT 0

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int pthread_cond_signal(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_create(pthread_t *thread, const struct pthread_attr *attributes, void *(*work)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_once(pthread_once_t *once, void (*work)(void));

#endif
