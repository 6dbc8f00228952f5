/*
 * Counts the threads and processes of a user, and limits them relative to that count. No interface
 * of the kernel returns the count, so a binary search over RLIMIT_NPROC finds it: the kernel lets a
 * process create a child only if the limit is above the count.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_MAX (1u << 22)

static rlim_t count_others(void);
static rlim_t count_processes(void);
static bool can_fork_below(rlim_t limit);
static void set_limit(rlim_t limit, bool is_final);

void limit_processes(rlim_t more) {
  set_limit(count_others() + more, true);
}

/*
 * Prints the count of each user on a line of its own, or "?" if the count fails. Each count runs in
 * its own child process, which changes to that user for good.
 */
void print_process_counts(char **uids) {
  for (; *uids; uids++) {
    int status = 0;
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      change_user(read_uid("--count", *uids));
      printf("%llu\n", (unsigned long long)count_others());
      _exit(fflush(stdout) == 0 ? 0 : EXIT_NOT_LAUNCHED);
    }
    if (waitpid(child, &status, 0) == child && status == 0) continue;
    printf("?\n");
    if (fflush(stdout) != 0) fail("--count");
  }
}

/* Returns the number of processes and threads of this user, without this process. */
static rlim_t count_others(void) { return count_processes() - 1; }

static rlim_t count_processes(void) {
  rlim_t below = 0, above = 1;
  while (above < COUNT_MAX && !can_fork_below(above)) {
    below = above;
    above *= 2;
  }
  /*
   * With the limit `below` no child can be created; with the limit `above` a child can be created.
   */
  while (above - below > 1) {
    rlim_t middle = below + (above - below) / 2;
    if (can_fork_below(middle))
      above = middle;
    else
      below = middle;
  }
  return below;
}

static bool can_fork_below(rlim_t limit) {
  set_limit(limit, false);
  pid_t child = vfork();
  if (child == 0) _exit(0);
  if (child < 0 && errno != EAGAIN) fail("vfork");
  if (child > 0) waitpid(child, NULL, 0);
  return child > 0;
}

static void set_limit(rlim_t limit, bool is_final) {
  struct rlimit value;
  if (getrlimit(RLIMIT_NPROC, &value) != 0) fail("RLIMIT_NPROC");
  value.rlim_cur = limit < value.rlim_max ? limit : value.rlim_max;
  if (is_final) value.rlim_max = value.rlim_cur;
  if (setrlimit(RLIMIT_NPROC, &value) != 0) fail("RLIMIT_NPROC");
}
