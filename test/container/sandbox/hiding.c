/*
 * Writes 300 MiB, one MiB each 10 ms, in a form that the runner may fail to measure. Exits with 3
 * if it cannot begin.
 *
 *   hiding HOW
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1 << 20)

static char block[MIB];

static void must(int result, const char *what) {
  if (result >= 0) return;
  perror(what);
  exit(3);
}

static void fill(const char *name, int mode) {
  int file = open(name, O_WRONLY | O_CREAT, mode);
  must(file, "open");
  for (int i = 0; i < 300; i++) {
    must((int)write(file, block, sizeof block), "write");
    usleep(10000);
  }
}

static void in_depth(void) {
  char name[201];
  memset(name, 'd', 200);
  name[200] = '\0';
  for (int i = 0; i < 30; i++) {
    must(mkdir(name, 0700), "mkdir");
    must(chdir(name), "chdir");
  }
  fill("file", 0600);
}

static void in_unreadable_folder(void) {
  must(mkdir("folder", 0300), "mkdir");
  fill("folder/file", 0600);
}

static void in_many_files(void) {
  char name[64];
  must(mkdir("folder", 0300), "mkdir");
  for (int i = 0; i < 60000; i++) {
    snprintf(name, sizeof name, "folder/%d", i);
    must(close(open(name, O_WRONLY | O_CREAT, 0600)), "open");
    usleep(50);
  }
}

static void *write_on(void *file) {
  for (int i = 0; i < 300; i++) {
    must((int)write(*(int *)file, block, sizeof block), "write");
    usleep(10000);
  }
  exit(0);
}

/* Renames the file continuously; with decoys, an empty file takes its previous name. */
static void under_new_names(int with_decoys) {
  pthread_t thread;
  char name[64], next[64];
  int file = open("0", O_WRONLY | O_CREAT, 0600);
  must(file, "open");
  must(-pthread_create(&thread, NULL, write_on, &file), "pthread_create");
  for (long i = 0;; i++) {
    snprintf(name, sizeof name, "%ld", i);
    snprintf(next, sizeof next, "%ld", i + 1);
    must(rename(name, next), "rename");
    if (!with_decoys) continue;
    must(close(open(name, O_WRONLY | O_CREAT, 0600)), "open");
    snprintf(name, sizeof name, "%ld", i - 20);
    if (i >= 20) must(unlink(name), "unlink");
  }
}

static void under_swapped_names(void) {
  pthread_t thread;
  int file = open("full", O_WRONLY | O_CREAT, 0600);
  must(file, "open");
  must(open("empty", O_WRONLY | O_CREAT, 0600), "open");
  must(-pthread_create(&thread, NULL, write_on, &file), "pthread_create");
  for (;;) must(renameat2(AT_FDCWD, "full", AT_FDCWD, "empty", RENAME_EXCHANGE), "renameat2");
}

int main(int count, char **words) {
  const char *how = count == 2 ? words[1] : "";
  if (strcmp(how, "depth") == 0) in_depth();
  if (strcmp(how, "bytes") == 0) fill("\xff\xfe", 0600);
  if (strcmp(how, "file-mode") == 0) fill("file", 0);
  if (strcmp(how, "folder-mode") == 0) in_unreadable_folder();
  if (strcmp(how, "many-files") == 0) in_many_files();
  if (strcmp(how, "new-names") == 0) under_new_names(0);
  if (strcmp(how, "decoys") == 0) under_new_names(1);
  if (strcmp(how, "swapped-names") == 0) under_swapped_names();
}
