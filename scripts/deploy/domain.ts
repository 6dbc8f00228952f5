import { Resolver } from "node:dns/promises"

/**
 * Why a host name should not be used; null where it resolves to nothing. Without a terminal,
 * wrangler replaces the DNS record of a name without asking.
 */
export async function findDomainProblem(domain: string): Promise<string | null> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  const addresses = await Promise.any([resolver.resolve4(domain), resolver.resolve6(domain)]).catch(
    () => [],
  )
  if (addresses.length === 0) return null
  return `LATHE_DOMAIN ${domain} is in use: it resolves to ${addresses[0]}, and deploying would replace that DNS record. Remove the record, or choose another name.`
}
