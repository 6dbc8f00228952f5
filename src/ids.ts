import { v7, validate } from "uuid"

/** A new identifier: UUIDv7, so that ids sort by the time they were made. */
export function newId(): string {
  return v7()
}

/** The id that examples of requests name. */
export const EXAMPLE_ID = "0197a6d2-6f7c-7c33-9b1e-3f2a8c5d4e10"

export function isId(text: string): boolean {
  return validate(text)
}
