/**
 * A command, without the program, that fails, and what the refusal of its create says of what to write,
 * or else the failure of its run.
 */
export type Wrong = readonly [line: string, remedy: string]
