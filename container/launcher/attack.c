/*
 * Tries actions that the sandbox must prevent, and prints for each attempt whether the kernel
 * allowed it. The folder contains a file "secret"; a process listens on the loopback ports. With
 * names, tries only the attempts with these names.
 *
 *   attack FOLDER_OUTSIDE TCP_PORT UDP_PORT [NAME...]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* SO_PEERPIDFD, which older system headers do not define. */
#define PEER_PIDFD 77

static const char *outside;
static unsigned short tcp_port;
static unsigned short udp_port;

static const char *path_outside(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", outside, name);
  return path;
}

static bool reads_outside(void) {
  char byte;
  int file = open(path_outside("secret"), O_RDONLY);
  return file >= 0 && read(file, &byte, 1) == 1;
}

static bool lists_outside(void) { return opendir(outside) != NULL; }

static bool writes_outside(void) {
  return open(path_outside("written"), O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool truncates_outside(void) { return truncate(path_outside("secret"), 0) == 0; }

static bool changes_rights_outside(void) { return chmod(path_outside("secret"), 0777) == 0; }

static bool reaches(int type, unsigned short port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int made = socket(AF_INET, type, 0);
  if (made < 0) return false;
  return connect(made, (struct sockaddr *)&to, sizeof to) == 0 && write(made, "x", 1) == 1;
}

static bool opens_tcp(void) { return reaches(SOCK_STREAM, tcp_port); }

static bool sends_udp(void) { return reaches(SOCK_DGRAM, udp_port); }

static bool opens_unix_socket(void) { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }

static bool forks(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, NULL, 0);
  return child > 0;
}

/*
 * Tries the two steps by which the kernel signals another process about a file. Counts as allowed
 * at the first step that succeeds, before a signal can be sent. A step that cannot be tried does
 * not count as refused.
 */
static bool signals_by_file(void) {
  int on = 1;
  pid_t other = getppid();
  struct f_owner_ex owner = {F_OWNER_PID, other};
  int folder = open(".", O_RDONLY | O_DIRECTORY);
  bool is_allowed = folder < 0 || fcntl(folder, F_SETOWN, other) == 0 ||
                    fcntl(folder, F_SETOWN_EX, &owner) == 0 ||
                    fcntl(folder, F_SETSIG, SIGKILL) == 0 ||
                    fcntl(folder, F_NOTIFY, DN_CREATE) == 0;
  close(folder);
  return is_allowed || ioctl(2, FIOSETOWN, &other) == 0 || ioctl(2, SIOCSPGRP, &other) == 0 ||
         ioctl(2, FIOASYNC, &on) == 0 || fcntl(2, F_SETFL, O_WRONLY | O_ASYNC) == 0;
}

static bool signals_others(void) { return kill(getppid(), 0) == 0 || signals_by_file(); }

/*
 * Tries to identify the process at the other end of a standard stream, which is a socket of the
 * runner.
 */
static bool finds_peer(void) {
  const int options[] = {SO_PEERCRED, PEER_PIDFD};
  for (int stream = 0; stream < 3; stream++) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
      struct ucred peer;
      socklen_t size = options[i] == SO_PEERCRED ? sizeof peer : sizeof(int);
      if (getsockopt(stream, SOL_SOCKET, options[i], &peer, &size) == 0) return true;
    }
  }
  return false;
}

static bool makes_namespace(void) { return unshare(CLONE_NEWUSER) == 0; }

static bool leaves_symlink(void) { return symlink(path_outside("secret"), "symlink") == 0; }

static bool leaves_hard_link(void) {
  int file = open("plain", O_WRONLY | O_CREAT, 0600);
  return file >= 0 && link("plain", "hard-link") == 0;
}

static bool leaves_set_id_file(void) {
  int file = open("set-id", O_WRONLY | O_CREAT, 04755);
  struct stat facts;
  return file >= 0 && fstat(file, &facts) == 0 && (facts.st_mode & S_ISUID) != 0;
}

/* Renames a file so that a device (a whiteout) takes its place. */
static bool leaves_whiteout(void) {
  int file = open("moved", O_WRONLY | O_CREAT, 0600);
  return file >= 0 &&
         syscall(SYS_renameat2, AT_FDCWD, "moved", AT_FDCWD, "moved-on", RENAME_WHITEOUT) == 0;
}

static bool leaves_unnamed_file(void) { return open(".", O_WRONLY | O_TMPFILE, 0600) >= 0; }

static bool runs_from_memory(void) { return syscall(SYS_memfd_create, "program", 0) >= 0; }

static bool makes_folder(void) { return mkdir("folder", 0300) == 0; }

/*
 * Tries to set locks, leases and hints on a file, which every process that opens the file can see.
 */
static bool marks_shared_file(void) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  uint64_t hint = 1;
  int shared = open("/dev/null", O_RDONLY);
  int own = open("leased", O_RDONLY | O_CREAT, 0600);
  return shared < 0 || own < 0 || flock(shared, LOCK_SH) == 0 ||
         fcntl(shared, F_SETLK, &lock) == 0 || fcntl(shared, F_GETLK, &lock) == 0 ||
         fcntl(shared, F_OFD_SETLK, &lock) == 0 || fcntl(own, F_SETLEASE, F_RDLCK) == 0 ||
         fcntl(own, F_SET_RW_HINT, &hint) == 0;
}

/*
 * Tries to create kernel objects through which processes can exchange data without a common file.
 */
static bool shares_object(void) {
  int memory = shmget(IPC_PRIVATE, 4096, 0600);
  if (memory >= 0) return shmctl(memory, IPC_RMID, NULL) == 0;
  return semget(IPC_PRIVATE, 1, 0600) >= 0 || msgget(IPC_PRIVATE, 0600) >= 0 ||
         mq_open("/lathe-attack", O_RDWR | O_CREAT, 0600, NULL) >= 0 || inotify_init() >= 0 ||
         syscall(SYS_add_key, "user", "lathe-attack", "x", 1, KEY_SPEC_PROCESS_KEYRING) >= 0 ||
         syscall(SYS_userfaultfd, 0) >= 0;
}

/*
 * Tries to execute a file that the tool created. The content is no program, but the kernel checks
 * the right to execute first. An attempt that cannot be made does not count as refused.
 */
static bool runs_own_file(void) {
  int file = open("own", O_WRONLY | O_CREAT, 0700);
  if (file < 0 || write(file, "?", 1) != 1 || close(file) != 0) return true;
  umask(0);
  int again = open("own-again", O_WRONLY | O_CREAT, 0777);
  if (again < 0 || write(again, "?", 1) != 1 || close(again) != 0) return true;
  execl("./own", "own", (char *)NULL);
  bool is_refused = errno == EACCES || errno == EPERM;
  execl("./own-again", "own-again", (char *)NULL);
  return !is_refused || (errno != EACCES && errno != EPERM);
}

struct attack {
  const char *name;
  bool (*succeeds)(void);
};

static const struct attack ATTACKS[] = {
    {"read_outside", reads_outside},
    {"list_outside", lists_outside},
    {"write_outside", writes_outside},
    {"truncate_outside", truncates_outside},
    {"change_rights_outside", changes_rights_outside},
    {"tcp", opens_tcp},
    {"udp", sends_udp},
    {"unix_socket", opens_unix_socket},
    {"fork", forks},
    {"signal_others", signals_others},
    {"find_peer", finds_peer},
    {"namespace", makes_namespace},
    {"symlink", leaves_symlink},
    {"hard_link", leaves_hard_link},
    {"set_id_file", leaves_set_id_file},
    {"whiteout", leaves_whiteout},
    {"unnamed_file", leaves_unnamed_file},
    {"run_from_memory", runs_from_memory},
    {"folder", makes_folder},
    {"shared_file", marks_shared_file},
    {"shared_object", shares_object},
    {"run_own", runs_own_file},
};

static bool is_wanted(const char *name, char **names) {
  if (*names == NULL) return true;
  while (*names && strcmp(*names, name) != 0) names++;
  return *names != NULL;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  outside = argv[1];
  tcp_port = (unsigned short)atoi(argv[2]);
  udp_port = (unsigned short)atoi(argv[3]);
  for (size_t i = 0; i < sizeof ATTACKS / sizeof *ATTACKS; i++) {
    if (!is_wanted(ATTACKS[i].name, argv + 4)) continue;
    bool is_allowed = ATTACKS[i].succeeds();
    printf("%s %s\n", ATTACKS[i].name, is_allowed ? "allowed" : "refused");
  }
  fflush(stdout);
  if (!is_wanted("run_others", argv + 4)) return 0;
  /* If this call succeeds, the shell replaces this process and prints the result. */
  execl("/bin/sh", "sh", "-c", "echo run_others allowed", (char *)NULL);
  printf("run_others refused\n");
  return 0;
}
