/*
 * Zeroed memory that costs nothing until it is used. ffmpeg's own function writes to every byte of it, and
 * decoders ask for megabytes of which a short task needs some pages: half of what a probe took.
 * Linked with -Wl,--wrap=av_mallocz, which sends calls of that name to the first function here.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE_BYTES = 128 * 1024 };

void *__wrap_av_mallocz(size_t size);
void *__real_av_mallocz(size_t size);
void *av_malloc(size_t size);

/* Memory of malloc is private and of no file: pages that the kernel takes back are zero afterwards. */
void *__wrap_av_mallocz(size_t size)
{
    if (size < LARGE_BYTES) return __real_av_mallocz(size);
    char *start = av_malloc(size);
    if (start == NULL) return NULL;
    /* What is smaller than a page may share it with what is in use. */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *first = start + (-(uintptr_t)start & (page - 1));
    size_t head = (size_t)(first - start);
    if (size < head + page) return memset(start, 0, size);
    size_t tail = (size - head) & (page - 1);
    size_t whole = size - head - tail;
    if (madvise(first, whole, MADV_DONTNEED) != 0) return memset(start, 0, size);
    memset(start, 0, head);
    memset(first + whole, 0, tail);
    return start;
}
