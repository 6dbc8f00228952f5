import type { FaultCode } from "../../../src/faults.ts"

/** A line without the program's name, the code of its first fault, and what that must say. */
export type CommandMistake = readonly [line: string, code: FaultCode, words: string]
