/*
 * Makes paths accessible to the tool's user although they lie below a folder that the user may not
 * enter, such as /root. In a separate mount namespace, an empty folder covers the closed folder,
 * and only the given paths are mounted again at their original locations. Needs CAP_SYS_ADMIN if
 * there is such a folder.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define COVER_MODE 0711

struct way {
  char path[PATH_MAX];
  /* Length of the path of the topmost folder that other users may not enter; 0 if there is none. */
  size_t closed;
  int file;
};

static struct way ways[LIST_MAX];

static size_t find_closed(const char *path);
static bool is_closed(const char *folder);
static void cover(const struct way *way);
static void mount_again(struct way *way);
static void make_folder(const char *path);

void make_reachable(const struct list *paths) {
  bool is_needed = false;
  for (int i = 0; i < paths->count; i++) {
    size_t length = strlen(paths->items[i]);
    if (length >= sizeof ways[i].path) fail_with(ENAMETOOLONG, "--reach");
    memcpy(ways[i].path, paths->items[i], length + 1);
    ways[i].closed = find_closed(ways[i].path);
    is_needed = is_needed || ways[i].closed > 0;
  }
  if (!is_needed) return;
  if (unshare(CLONE_NEWNS) != 0) fail("the tool's user may not enter its folder, and unshare");
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("a private mount namespace");
  /*
   * Opens the paths before they are covered, and in the new namespace, since mounts of another
   * namespace cannot be bound.
   */
  for (int i = 0; i < paths->count; i++) {
    ways[i].file = ways[i].closed > 0 ? open(ways[i].path, O_PATH | O_CLOEXEC) : -1;
    if (ways[i].closed > 0 && ways[i].file < 0) fail(ways[i].path);
  }
  umask(0);
  for (int i = 0; i < paths->count; i++)
    if (ways[i].closed > 0) mount_again(&ways[i]);
}

static size_t find_closed(const char *path) {
  char folder[PATH_MAX];
  for (size_t i = 1; path[i] != '\0'; i++) {
    if (path[i] != '/') continue;
    memcpy(folder, path, i);
    folder[i] = '\0';
    if (is_closed(folder)) return i;
  }
  return 0;
}

static bool is_closed(const char *folder) {
  struct stat facts;
  if (stat(folder, &facts) != 0) fail(folder);
  return (facts.st_mode & S_IXOTH) == 0;
}

static void cover(const struct way *way) {
  char folder[PATH_MAX];
  memcpy(folder, way->path, way->closed);
  folder[way->closed] = '\0';
  /* Returns early if the folder is already covered because of another path. */
  if (!is_closed(folder)) return;
  char options[64];
  snprintf(options, sizeof options, "mode=%o,size=1m", COVER_MODE);
  if (mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) != 0) fail(folder);
}

static void mount_again(struct way *way) {
  cover(way);
  for (size_t i = way->closed + 1; way->path[i] != '\0'; i++) {
    if (way->path[i] != '/') continue;
    way->path[i] = '\0';
    make_folder(way->path);
    way->path[i] = '/';
  }
  struct stat facts;
  if (fstat(way->file, &facts) != 0) fail(way->path);
  if (S_ISDIR(facts.st_mode)) {
    make_folder(way->path);
  } else {
    int place = open(way->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (place < 0) fail(way->path);
    close(place);
  }
  char source[64];
  snprintf(source, sizeof source, "/proc/self/fd/%d", way->file);
  if (mount(source, way->path, NULL, MS_BIND, NULL) != 0) fail(way->path);
  close(way->file);
}

static void make_folder(const char *path) {
  if (mkdir(path, COVER_MODE) != 0 && errno != EEXIST) fail(path);
}
