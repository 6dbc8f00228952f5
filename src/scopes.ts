/** What a key may do; each scope includes those before it. */
export const SCOPES = ["read", "write", "admin"] as const
export type Scope = (typeof SCOPES)[number]

/** Whether scopes allow what needs one of them. */
export function allowsScope(scopes: readonly Scope[], needed: Scope): boolean {
  const least = SCOPES.indexOf(needed)
  return scopes.some((scope) => SCOPES.indexOf(scope) >= least)
}
