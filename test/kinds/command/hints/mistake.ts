import type { FaultCode } from "../../../../src/domain/faults.ts"

/** Line without the program's name, the code of its first fault, and a part of its message. */
export type CommandMistake = readonly [line: string, code: FaultCode, words: string]
