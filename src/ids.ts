import { v7, validate } from "uuid"

/** A new identifier: UUIDv7, so that ids sort by the time they were made. */
export function newId(): string {
  return v7()
}

/**
 * A new account's identifier, which names the database of its rows: UUIDv7 for the first, and
 * for another UUIDv8 with the same time, and the number in the three digits after the 8.
 */
export function newAccountId(database: number): string {
  const id = newId()
  if (database === 1) return id
  return `${id.slice(0, 14)}8${database.toString(16).padStart(3, "0")}${id.slice(18)}`
}

/** The number of the database that has an account's rows. */
export function databaseNumberOf(accountId: string): number {
  const digits = /^[0-9a-f]{8}-[0-9a-f]{4}-8([0-9a-f]{3})-/i.exec(accountId)?.[1]
  return digits === undefined ? 1 : Number.parseInt(digits, 16)
}

/** The least id that can be made at a moment, in milliseconds since 1970. */
export function firstIdAt(moment: number): string {
  const hex = Math.max(0, moment).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** When an identifier was made, in milliseconds since 1970. */
export function madeAt(id: string): number {
  return Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)
}

/** The id that examples of requests name. */
export const EXAMPLE_ID = "0197a6d2-6f7c-7c33-9b1e-3f2a8c5d4e10"

export function isId(text: string): boolean {
  return validate(text)
}
