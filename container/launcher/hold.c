/*
 * Preloaded library that stops a tool just before its main(), after all libraries of the tool are
 * loaded. It waits for a launch order (see order.c), confines this process, and then calls main()
 * with the arguments and environment of the order. A tool that was loaded ahead of time starts
 * faster when its order arrives.
 *
 *   LD_PRELOAD=hold.so PROGRAM
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);

static int hold(int argc, char **argv, char **environment);

static main_function *tool_main;

/*
 * Replaces the entry point of the C library, to which a dynamically linked program passes its
 * main().
 */
__attribute__((visibility("default"))) int __libc_start_main(
    main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
    void (*loader_fini)(void), void *stack_end) {
  start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
  if (!start) fail_with(ENOSYS, "the tool's C library");
  tool_main = main;
  return start(hold, argc, argv, init, fini, loader_fini, stack_end);
}

static int hold(int argc, char **argv, char **environment) {
  struct order order = {0};
  pid_t parent = getppid();
  (void)argc, (void)environment;
  /* Fails if the process has another thread, since Landlock restricts only the calling thread. */
  if (unshare(CLONE_VM) != 0) fail("a library of the tool has a thread");
  await_order(&order);
  order.is_held = true;
  if (strcmp(order.program[0], argv[0]) != 0) fail_with(EPERM, order.program[0]);
  environ = confine(&order, parent, -1);
  report_start();
  /* Closes the descriptor, since no execve() follows that would close it. */
  if (order.kept_fd != REPORT_FD) close(REPORT_FD);
  int count = 0;
  while (order.program[count]) count++;
  return tool_main(count, order.program, environ);
}
