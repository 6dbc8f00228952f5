/** Scopes of an API key in ascending order. Each scope includes the scopes before it. */
export const SCOPES = ["read", "write", "admin"] as const
export type Scope = (typeof SCOPES)[number]

/**
 * Reports whether the scopes of an API key include a needed scope, directly or by a higher scope.
 */
export function allowsScope(scopes: readonly Scope[], needed: Scope): boolean {
  const least = SCOPES.indexOf(needed)
  return scopes.some((scope) => SCOPES.indexOf(scope) >= least)
}
