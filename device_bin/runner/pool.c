#include "pool.h"

#include <pthread.h>
#include <string.h>

enum { MAX_THREADS = 64 };

struct pool {
    pthread_mutex_t lock;
    size_t next, end;
    pool_work work;
    void *shared;
    bool failed;
    size_t failed_index;
    struct failure *failure;
};

static bool take(struct pool *pool, size_t *index) {
    pthread_mutex_lock(&pool->lock);
    bool some = !pool->failed && pool->next < pool->end;
    if (some) {
        *index = pool->next++;
    }
    pthread_mutex_unlock(&pool->lock);
    return some;
}

static void put_failure(struct pool *pool, size_t index, const struct failure *failure) {
    pthread_mutex_lock(&pool->lock);
    if (!pool->failed || index < pool->failed_index) {
        *pool->failure = *failure;
        pool->failed_index = index;
    }
    pool->failed = true;
    pthread_mutex_unlock(&pool->lock);
}

static void *work_through(void *argument) {
    struct pool *pool = argument;
    size_t index = 0;
    while (take(pool, &index)) {
        struct failure failure;
        memset(&failure, 0, sizeof(failure));
        if (!pool->work(pool->shared, index, &failure)) {
            put_failure(pool, index, &failure);
        }
    }
    return NULL;
}

bool pool_run(size_t threads, size_t first, size_t end, pool_work work, void *shared, struct failure *failure) {
    struct pool pool = {.next = first, .end = end, .work = work, .shared = shared, .failure = failure};
    pthread_t others[MAX_THREADS];
    size_t started = 0;
    pthread_mutex_init(&pool.lock, NULL);
    /* This thread works too: one less to start. Where one can't be started, the rest does its work. */
    while (started + 1 < threads && started < MAX_THREADS && started + 1 < end - first &&
           pthread_create(&others[started], NULL, work_through, &pool) == 0) {
        started++;
    }
    work_through(&pool);
    for (size_t i = 0; i < started; i++) {
        pthread_join(others[i], NULL);
    }
    pthread_mutex_destroy(&pool.lock);
    return !pool.failed;
}
