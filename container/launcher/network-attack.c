/*
 * Runs as a tool whose TCP connections must all lead to one UNIX socket, and tries to reach other
 * targets. Prints for each attempt whether it was refused, diverted to that socket, or allowed.
 * Processes listen on the ports of the addresses and on UNIX_PATH; no attempt may reach them. The
 * permitted socket sends GREETING, a few bytes, to each client. NAMES is a comma-separated list of
 * attempts, or "all".
 *
 *   network-attack TCP_PORT UDP_PORT UNIX_PATH GREETING NAMES ADDRESS...
 */
#include "network-attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GREETING_MS_MAX 2000

char **words;
int word_count;

unsigned short tcp_port(void) { return (unsigned short)atoi(words[1]); }
unsigned short udp_port(void) { return (unsigned short)atoi(words[2]); }

socklen_t address_of(struct sockaddr_storage *to, const char *text, unsigned short port) {
  struct sockaddr_in *four = (struct sockaddr_in *)to;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
  memset(to, 0, sizeof *to);
  if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    return sizeof *four;
  }
  inet_pton(AF_INET6, text, &six->sin6_addr);
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
  return sizeof *six;
}

/* Determines by the greeting whether a connected descriptor leads to the permitted socket. */
enum outcome judge(int made) {
  char text[64] = "";
  struct pollfd waiting = {.fd = made, .events = POLLIN};
  if (poll(&waiting, 1, GREETING_MS_MAX) != 1) return ALLOWED;
  ssize_t length = recv(made, text, sizeof text - 1, 0);
  return length > 0 && strncmp(text, words[4], strlen(words[4])) == 0 ? DIVERTED : ALLOWED;
}

enum outcome connect_by(int family, int type, int protocol, const void *to, socklen_t size) {
  int made = socket(family, type, protocol);
  if (made < 0) return REFUSED;
  bool is_made = connect(made, to, size) == 0 || errno == EINPROGRESS;
  enum outcome outcome = is_made ? judge(made) : REFUSED;
  close(made);
  return outcome;
}

enum outcome outcome_of_child(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return ALLOWED;
  return (enum outcome)WEXITSTATUS(status);
}

struct attack {
  const char *name;
  enum outcome (*attempt)(void);
};

static const struct attack ATTACKS[] = {
    {"tcp", connects},
    {"tcp_without_blocking", connects_without_blocking},
    {"tcp_again", connects_again},
    {"tcp_in_thread", connects_in_thread},
    {"tcp_in_child", connects_in_child},
    {"tcp_in_program", connects_in_program},
    {"tcp_in_a_race", races},
    {"tcp_many_times", floods},
    {"multipath", connects_by_multipath},
    {"datagram", sends_datagram},
    {"path", connects_to_path},
    {"other_socket", makes_other_socket},
    {"fast_open", opens_fast},
    {"message", sends_message},
    {"ring", uses_ring},
    {"server", serves},
    {"ask_socket", asks_socket},
    {"touch_others", touches_others},
    {"hide", hides},
    {"run_others", runs_others},
};

static bool is_wanted(const char *name) {
  const char *wanted = words[5];
  size_t length = strlen(name);
  if (strcmp(wanted, "all") == 0) return true;
  for (const char *at = wanted; (at = strstr(at, name)); at += length) {
    bool begins = at == wanted || at[-1] == ',';
    if (begins && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

int main(int argc, char **argv) {
  const char *names[] = {"refused", "diverted", "allowed"};
  if (argc <= FIRST_ADDRESS) return 2;
  words = argv;
  word_count = argc;
  if (getenv("LATHE_ATTACK_CONNECT")) return (int)connects();
  for (size_t i = 0; i < sizeof ATTACKS / sizeof *ATTACKS; i++)
    if (is_wanted(ATTACKS[i].name)) printf("%s %s\n", ATTACKS[i].name, names[ATTACKS[i].attempt()]);
  return 0;
}
