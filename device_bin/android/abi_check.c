/* What bionic on arm64 expects, asserted: a wrong size here is memory written past, in silence. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>

_Static_assert(sizeof(struct stat) == 128, "stat");
_Static_assert(offsetof(struct stat, st_mode) == 16, "stat.st_mode");
_Static_assert(offsetof(struct stat, st_size) == 48, "stat.st_size");
_Static_assert(sizeof(sigset_t) == 8, "sigset_t");
_Static_assert(sizeof(pthread_mutex_t) == 40, "pthread_mutex_t");
_Static_assert(sizeof(pthread_mutexattr_t) == 8, "pthread_mutexattr_t");
_Static_assert(sizeof(pthread_cond_t) == 48, "pthread_cond_t");
_Static_assert(sizeof(pthread_once_t) == 4, "pthread_once_t");
_Static_assert(sizeof(pthread_t) == 8, "pthread_t");
_Static_assert(sizeof(struct timespec) == 16, "timespec");
_Static_assert(sizeof(struct pollfd) == 8, "pollfd");
_Static_assert(offsetof(struct dirent, d_name) == 19, "dirent.d_name");
_Static_assert(sizeof(struct dirent) == 280, "dirent");
_Static_assert(sizeof(Dl_info) == 32, "Dl_info");
_Static_assert(O_CLOEXEC == SFD_CLOEXEC && O_NONBLOCK == SFD_NONBLOCK, "flags of signalfd");
