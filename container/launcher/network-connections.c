/* Attempts to open a TCP connection to an address other than the permitted UNIX socket. */
#define _GNU_SOURCE
#include "network-attack.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define MPTCP 262
#define RACES 100
#define FLOOD 200

static enum outcome tcp_of_type(int type, int protocol) {
  enum outcome worst = REFUSED;
  for (int i = FIRST_ADDRESS; i < word_count; i++) {
    struct sockaddr_storage to;
    socklen_t size = address_of(&to, words[i], tcp_port());
    enum outcome outcome = connect_by(to.ss_family, type, protocol, &to, size);
    if (outcome > worst) worst = outcome;
  }
  return worst;
}

enum outcome connects(void) { return tcp_of_type(SOCK_STREAM, 0); }

enum outcome connects_without_blocking(void) {
  return tcp_of_type(SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
}

enum outcome connects_by_multipath(void) { return tcp_of_type(SOCK_STREAM, MPTCP); }

enum outcome connects_again(void) {
  struct sockaddr_storage to;
  struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  socklen_t size = address_of(&to, words[FIRST_ADDRESS], tcp_port());
  int made = socket(to.ss_family, SOCK_STREAM, 0);
  if (connect(made, (struct sockaddr *)&to, size) != 0) return REFUSED;
  connect(made, &nowhere, sizeof nowhere);
  enum outcome outcome = connect(made, (struct sockaddr *)&to, size) != 0 ? REFUSED : judge(made);
  close(made);
  return outcome;
}

static void *connect_in_thread(void *result) {
  *(enum outcome *)result = connects();
  return NULL;
}

enum outcome connects_in_thread(void) {
  pthread_t thread;
  enum outcome outcome = ALLOWED;
  if (pthread_create(&thread, NULL, connect_in_thread, &outcome) != 0) return ALLOWED;
  pthread_join(thread, NULL);
  return outcome;
}

enum outcome connects_in_child(void) {
  pid_t child = fork();
  if (child == 0) _exit((int)connects());
  return outcome_of_child(child);
}

enum outcome connects_in_program(void) {
  pid_t child = fork();
  if (child == 0) {
    setenv("LATHE_ATTACK_CONNECT", "1", 1);
    execv(words[0], words);
    _exit(ALLOWED);
  }
  return outcome_of_child(child);
}

static struct {
  _Atomic bool is_over;
  _Atomic int descriptor;
  struct sockaddr_storage to;
} race;

/*
 * Interferes from a second thread: keeps changing the address, and replaces the socket's descriptor
 * by a pipe.
 */
static void *interfere(void *pipe_end) {
  for (int i = 0; !race.is_over; i++) {
    const char *address = words[FIRST_ADDRESS + i % (word_count - FIRST_ADDRESS)];
    address_of(&race.to, address, i % 2 ? tcp_port() : 1);
    if (i % 3 == 0 && race.descriptor >= 0) dup2(*(int *)pipe_end, race.descriptor);
  }
  return NULL;
}

/*
 * Connects while a second thread interferes. Counts as allowed if any descriptor is a network
 * socket, whatever its target.
 */
enum outcome races(void) {
  pthread_t thread;
  int ends[2];
  race.descriptor = -1;
  race.is_over = false;
  if (pipe(ends) != 0 || pthread_create(&thread, NULL, interfere, ends) != 0) return ALLOWED;
  enum outcome outcome = REFUSED;
  for (int i = 0; i < RACES; i++) {
    int made = socket(AF_INET, SOCK_STREAM, 0), domain = AF_UNIX;
    socklen_t size = sizeof domain;
    race.descriptor = made;
    if (connect(made, (struct sockaddr *)&race.to, sizeof race.to) == 0) outcome = DIVERTED;
    race.descriptor = -1;
    if (getsockopt(made, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX) {
      outcome = ALLOWED;
      break;
    }
    close(made);
  }
  race.is_over = true;
  pthread_join(thread, NULL);
  return outcome;
}

enum outcome floods(void) {
  int made[FLOOD];
  enum outcome worst = DIVERTED;
  struct sockaddr_storage to;
  socklen_t size = address_of(&to, words[FIRST_ADDRESS], tcp_port());
  for (int i = 0; i < FLOOD; i++) {
    made[i] = socket(to.ss_family, SOCK_STREAM, 0);
    if (made[i] < 0 || connect(made[i], (struct sockaddr *)&to, size) != 0) worst = ALLOWED;
  }
  for (int i = 0; i < FLOOD; i++) {
    if (worst == DIVERTED) worst = judge(made[i]);
    close(made[i]);
  }
  return worst;
}
