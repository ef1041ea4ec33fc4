/* The part of bionic's <signal.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_SIGNAL_H
#define HEAPPROF_BIONIC_SIGNAL_H

#include <sys/types.h>

/* 8 bytes; musl's has 128 and would be written past. */
typedef unsigned long sigset_t;
typedef void (*signal_handler)(int);

#define SIG_DFL ((signal_handler)0)
#define SIG_IGN ((signal_handler)1)
#define SIG_BLOCK 0
#define SIG_SETMASK 2

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGXCPU 24
#define SIGSYS 31

int kill(pid_t pid, int number);
signal_handler signal(int number, signal_handler handler);
int sigaddset(sigset_t *set, int number);
int sigemptyset(sigset_t *set);
int sigprocmask(int how, const sigset_t *set, sigset_t *before);

#endif
