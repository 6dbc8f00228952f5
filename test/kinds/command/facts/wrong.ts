/**
 * A command, without the program, that ffmpeg always refuses, and what its refusal at create says; null
 * where that is not known before it runs.
 */
export type Wrong = [line: string, remedy: string | null]
