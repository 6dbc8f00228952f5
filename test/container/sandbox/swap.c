/*
 * Exchanges a folder and a link once another process begins to empty the folder. Prints a line when
 * it waits, and exits with 3 if it cannot begin.
 *
 *   swap FOLDER LINK
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static void must(int result, const char *what) {
  if (result >= 0) return;
  perror(what);
  exit(3);
}

int main(int argc, char **argv) {
  char event[4096];
  if (argc != 3) return 2;
  int watch = inotify_init1(IN_CLOEXEC);
  must(watch, "inotify_init1");
  must(inotify_add_watch(watch, argv[1], IN_DELETE), argv[1]);
  printf("waiting\n");
  fflush(stdout);
  must((int)read(watch, event, sizeof event), "read");
  must(renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE), "renameat2");
  return 0;
}
