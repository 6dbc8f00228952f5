/**
 * Failing command without the program's name, and the remedy in the refusal of its create, or else
 * in the failure of its run.
 */
export type Wrong = readonly [line: string, remedy: string]
