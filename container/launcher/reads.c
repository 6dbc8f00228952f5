/*
 * Is loaded into a tool before its libraries, and has the runner bring what the tool is about to
 * read of a regular file. A tool that cannot ask gets an error, never bytes that are not there.
 *
 *   ld.so --preload reads.so PROGRAM ARGUMENT...
 *
 * It asks by a line on descriptor 3: INODE OFFSET LENGTH. The answer on standard input is two
 * numbers of 64 bits: where the stretch begins and ends that is there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUESTIONS 3

struct stretch {
  int64_t start;
  int64_t end;
};

static bool bring(int file, size_t length);
static bool ask(ino_t inode, struct stretch wanted);
static bool read_answer(struct stretch *answer);

/* One question at a time, and what the last one brought. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static ino_t known_inode;
static struct stretch known;

ssize_t read(int file, void *buffer, size_t length) {
  pthread_mutex_lock(&asking);
  bool is_there = bring(file, length);
  pthread_mutex_unlock(&asking);
  if (!is_there) {
    errno = EIO;
    return -1;
  }
  return syscall(SYS_read, file, buffer, length);
}

static bool bring(int file, size_t length) {
  struct stat facts;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return true;
  int64_t start = lseek(file, 0, SEEK_CUR);
  if (start < 0) return false;
  if (start >= facts.st_size || length == 0) return true;
  int64_t left = facts.st_size - start;
  struct stretch wanted = {start, start + (length < (size_t)left ? (int64_t)length : left)};
  bool is_known = known_inode == facts.st_ino && known.start <= wanted.start;
  return (is_known && wanted.end <= known.end) || ask(facts.st_ino, wanted);
}

static bool ask(ino_t inode, struct stretch wanted) {
  int64_t length = wanted.end - wanted.start;
  if (dprintf(QUESTIONS, "%llu %lld %lld\n", (unsigned long long)inode, (long long)wanted.start,
              (long long)length) < 0)
    return false;
  struct stretch answer;
  if (!read_answer(&answer)) return false;
  known_inode = inode;
  known = answer;
  return answer.start <= wanted.start && wanted.end <= answer.end;
}

static bool read_answer(struct stretch *answer) {
  char *place = (char *)answer;
  size_t filled = 0;
  while (filled < sizeof *answer) {
    long count = syscall(SYS_read, STDIN_FILENO, place + filled, sizeof *answer - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    filled += (size_t)count;
  }
  return true;
}
