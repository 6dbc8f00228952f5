/*
 * Measures its working folder, once for each byte on stdin. Prints a line "BYTES FILES", or
 * "unknown" if it cannot measure an entry, such as a folder or a file that is renamed continuously.
 * The count stops above FILES_MAX. A sparse file counts with its full size, since that many bytes
 * are read from it. A file with several hard links counts once. The program ends when stdin is
 * closed.
 *
 *   meter FILES_MAX
 *
 * Names are compared as bytes, so that no name can hide a file. A tool may rename files meanwhile,
 * so a file is identified by its inode in the listing and not by its name.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK_BYTES 512
/* Size of a directory entry with the longest possible name. */
#define ENTRY_BYTES_MAX 280
/*
 * Maximum number of listings per measurement. A tool usually renames a file once or twice; a file
 * that is still not found under its listed name is being hidden on purpose.
 */
#define LISTINGS_MAX 200

/* Directory entry as getdents64() writes it. */
struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

struct shared {
  uint64_t inode;
  uint64_t bytes;
};

struct folder {
  int file;
  size_t files_max;
  /* Directory entries of the folder, which take `length` bytes. */
  char *entries;
  size_t capacity;
  size_t length;
  /* Inodes of the first listing that are not measured yet, in ascending order. */
  uint64_t *pending;
  size_t pending_count;
  /* Files with several hard links: an item for each link that was found. */
  struct shared *shared;
  size_t shared_count;
};

enum outcome { MEASURED, MISSED, FOREIGN };

static void answer(struct folder *folder);
static bool measure(struct folder *folder, uint64_t *bytes, size_t *files);
static bool measure_pending(struct folder *folder, uint64_t *bytes);
static bool list(struct folder *folder, size_t *files);
static struct entry *next_entry(struct folder *folder, size_t *at);
static enum outcome measure_entry(struct folder *folder, const struct entry *entry, uint64_t *bytes);
static uint64_t sum_shared(struct folder *folder);
static bool is_pending(const struct folder *folder, uint64_t inode);
static int compare(const void *one, const void *other);

int main(int argc, char **argv) {
  struct folder folder = {0};
  if (argc != 2) return 2;
  folder.files_max = (size_t)strtoull(argv[1], NULL, 10);
  folder.file = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* Leaves room for one entry above the limit, and for the entries "." and "..". */
  folder.capacity = (folder.files_max + 3) * ENTRY_BYTES_MAX;
  folder.entries = malloc(folder.capacity);
  folder.pending = calloc(folder.files_max + 1, sizeof *folder.pending);
  folder.shared = calloc(folder.files_max + 1, sizeof *folder.shared);
  if (folder.file < 0 || !folder.entries || !folder.pending || !folder.shared) return 1;
  char request;
  while (read(STDIN_FILENO, &request, 1) == 1) answer(&folder);
  return 0;
}

static void answer(struct folder *folder) {
  uint64_t bytes = 0;
  size_t files = 0;
  if (measure(folder, &bytes, &files))
    printf("%" PRIu64 " %zu\n", bytes, files);
  else
    printf("unknown\n");
  if (fflush(stdout) != 0) exit(1);
}

static bool measure(struct folder *folder, uint64_t *bytes, size_t *files) {
  folder->pending_count = 0;
  folder->shared_count = 0;
  if (!list(folder, files)) return false;
  if (*files > folder->files_max) return true;
  size_t at = 0;
  for (struct entry *entry; (entry = next_entry(folder, &at));) {
    enum outcome outcome = measure_entry(folder, entry, bytes);
    if (outcome == FOREIGN) return false;
    if (outcome == MISSED) folder->pending[folder->pending_count++] = entry->inode;
  }
  for (int listing = 1; folder->pending_count > 0; listing++) {
    if (listing >= LISTINGS_MAX || !measure_pending(folder, bytes)) return false;
  }
  *bytes += sum_shared(folder);
  return true;
}

/*
 * Searches a new listing for the pending inodes, whose files were renamed. Inodes that are no
 * longer listed belong to removed files.
 */
static bool measure_pending(struct folder *folder, uint64_t *bytes) {
  size_t files = 0, at = 0, missed = 0;
  qsort(folder->pending, folder->pending_count, sizeof *folder->pending, compare);
  if (!list(folder, &files) || files > folder->files_max) return false;
  /* Marks missed inodes in the listing, because `pending` must stay sorted for the search. */
  for (struct entry *entry; (entry = next_entry(folder, &at));) {
    enum outcome outcome = MEASURED;
    if (is_pending(folder, entry->inode)) outcome = measure_entry(folder, entry, bytes);
    if (outcome == FOREIGN) return false;
    if (outcome == MEASURED) entry->inode = 0;
  }
  for (at = 0; missed < folder->pending_count;) {
    struct entry *entry = next_entry(folder, &at);
    if (!entry) break;
    if (entry->inode != 0) folder->pending[missed++] = entry->inode;
  }
  folder->pending_count = missed;
  return true;
}

/* Reads the entries of the folder, up to one entry above the limit. */
static bool list(struct folder *folder, size_t *files) {
  folder->length = 0;
  *files = 0;
  if (lseek(folder->file, 0, SEEK_SET) != 0) return false;
  while (*files <= folder->files_max) {
    char *end = folder->entries + folder->length;
    long length = syscall(SYS_getdents64, folder->file, end, folder->capacity - folder->length);
    if (length < 0) return false;
    if (length == 0) return true;
    size_t at = folder->length;
    folder->length += (size_t)length;
    while (next_entry(folder, &at)) (*files)++;
  }
  return true;
}

static struct entry *next_entry(struct folder *folder, size_t *at) {
  while (*at < folder->length) {
    struct entry *entry = (struct entry *)(folder->entries + *at);
    *at += entry->length;
    if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0) return entry;
  }
  return NULL;
}

static enum outcome measure_entry(struct folder *folder, const struct entry *entry, uint64_t *bytes) {
  struct stat facts;
  if (fstatat(folder->file, entry->name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? MISSED : FOREIGN;
  if (S_ISDIR(facts.st_mode)) return FOREIGN;
  if (facts.st_ino != entry->inode) return MISSED;
  uint64_t size = (uint64_t)facts.st_size;
  uint64_t space = (uint64_t)facts.st_blocks * BLOCK_BYTES;
  uint64_t larger = size > space ? size : space;
  if (facts.st_nlink > 1) {
    /* There are more links than listed entries: the file is being renamed continuously. */
    if (folder->shared_count > folder->files_max) return FOREIGN;
    folder->shared[folder->shared_count++] = (struct shared){facts.st_ino, larger};
  } else {
    *bytes += larger;
  }
  return MEASURED;
}

/*
 * Returns the sum of the sizes of files with several hard links. Each file counts once, with its
 * largest measured size.
 */
static uint64_t sum_shared(struct folder *folder) {
  uint64_t sum = 0;
  qsort(folder->shared, folder->shared_count, sizeof *folder->shared, compare);
  for (size_t at = 0; at < folder->shared_count;) {
    uint64_t inode = folder->shared[at].inode, largest = 0;
    for (; at < folder->shared_count && folder->shared[at].inode == inode; at++)
      if (folder->shared[at].bytes > largest) largest = folder->shared[at].bytes;
    sum += largest;
  }
  return sum;
}

static bool is_pending(const struct folder *folder, uint64_t inode) {
  return bsearch(&inode, folder->pending, folder->pending_count, sizeof inode, compare) != NULL;
}

/* Compares two inodes, or two structures that begin with an inode, for qsort() and bsearch(). */
static int compare(const void *one, const void *other) {
  uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
  return (a > b) - (a < b);
}
