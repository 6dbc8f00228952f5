import { v7, validate } from "uuid"

/** Creates a UUIDv7, so that ids sort by creation time. */
export function newId(): string {
  return v7()
}

/**
 * Creates the id of an account. The id contains the number of the database that stores the
 * account's rows. A UUIDv7 means the first database. In a UUIDv8, the three hexadecimal digits
 * after the version digit are the number of the database.
 */
export function newAccountId(database: number): string {
  const id = newId()
  if (database === 1) return id
  return `${id.slice(0, 14)}8${database.toString(16).padStart(3, "0")}${id.slice(18)}`
}

/** Returns the number of the database that stores an account's rows. */
export function readDatabaseNumber(accountId: string): number {
  const digits = /^[0-9a-f]{8}-[0-9a-f]{4}-8([0-9a-f]{3})-/i.exec(accountId)?.[1]
  return digits === undefined ? 1 : Number.parseInt(digits, 16)
}

/** Returns the smallest UUIDv7 of a time, given in milliseconds since the epoch. */
export function makeSmallestIdAtTime(moment: number): string {
  const hex = Math.max(0, moment).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** Returns the creation time of an id, in milliseconds since the epoch. */
export function readCreationTime(id: string): number {
  return Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)
}

/** Resource id that the examples of the API documentation show. */
export const EXAMPLE_ID = "0197a6d2-6f7c-7c33-9b1e-3f2a8c5d4e10"

export function isId(text: string): boolean {
  return validate(text)
}
