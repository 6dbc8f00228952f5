import { v7, validate } from "uuid"

/** A new identifier: UUIDv7, so that ids sort by the time they were made. */
export function newId(): string {
  return v7()
}

export function isId(text: string): boolean {
  return validate(text)
}
