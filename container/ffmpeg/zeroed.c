/*
 * Replaces av_mallocz() of ffmpeg by a function whose memory takes no time until its first use.
 * av_mallocz() writes zeros to every byte. Decoders allocate megabytes of which a short task uses a
 * few pages, so these writes took half the time of a probe. Link with -Wl,--wrap=av_mallocz, which
 * redirects calls of av_mallocz to __wrap_av_mallocz.
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

/*
 * Returns whole pages to the kernel instead of writing zeros. The memory of malloc is private and
 * anonymous, so such pages read as zero afterwards.
 */
void *__wrap_av_mallocz(size_t size)
{
    if (size < LARGE_BYTES) return __real_av_mallocz(size);
    char *start = av_malloc(size);
    if (start == NULL) return NULL;
    /* The ends of the block may share their pages with other memory, so they are written. */
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
