/* Declarations shared by the source files of the network attack. */
#ifndef NETWORK_ATTACK_H
#define NETWORK_ATTACK_H

#include <sys/socket.h>
#include <sys/types.h>

enum outcome { REFUSED, DIVERTED, ALLOWED };

/*
 * Arguments of the command line: program, two ports, path, greeting, names, and from FIRST_ADDRESS
 * on the addresses.
 */
#define FIRST_ADDRESS 6
extern char **words;
extern int word_count;

/* network-attack.c */
unsigned short tcp_port(void);
unsigned short udp_port(void);
socklen_t address_of(struct sockaddr_storage *to, const char *text, unsigned short port);
enum outcome judge(int made);
enum outcome connect_by(int family, int type, int protocol, const void *to, socklen_t size);
enum outcome outcome_of_child(pid_t child);

/* network-connections.c */
enum outcome connects(void);
enum outcome connects_without_blocking(void);
enum outcome connects_by_multipath(void);
enum outcome connects_again(void);
enum outcome connects_in_thread(void);
enum outcome connects_in_child(void);
enum outcome connects_in_program(void);
enum outcome races(void);
enum outcome floods(void);

/* network-escapes.c */
enum outcome sends_datagram(void);
enum outcome connects_to_path(void);
enum outcome makes_other_socket(void);
enum outcome opens_fast(void);
enum outcome sends_message(void);
enum outcome uses_ring(void);
enum outcome serves(void);
enum outcome asks_socket(void);
enum outcome touches_others(void);
enum outcome hides(void);
enum outcome runs_others(void);

#endif
