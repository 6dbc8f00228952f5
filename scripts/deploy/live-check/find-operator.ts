import type { OperatorAccess } from "../../keys/operator.ts"
import { CliError } from "../../cli/cli-error.ts"
import { findDeploymentsByName, findOperatorToken } from "../../cli/deployment-record.ts"
import { readStoredSecrets } from "../../cli/secrets.ts"
import { readServiceConfig } from "../../cli/service-config.ts"

/**
 * Finds the service to check and its operator token: the service at `wantedOrigin`, else the
 * deployment that this machine has made. Sends no request. Throws a CliError that names the missing
 * information.
 */
export function findServiceToCheck(
  environment: NodeJS.ProcessEnv,
  wantedOrigin: string | null,
): OperatorAccess {
  const { stateDir, origin: ownOrigin } = readServiceConfig(environment)
  const origin = wantedOrigin ?? findDeployment(environment, stateDir)
  const isLocal = origin === ownOrigin
  const token =
    environment["OPERATOR_TOKEN"] ??
    findOperatorToken(stateDir, origin) ??
    (isLocal ? readStoredSecrets(stateDir)?.OPERATOR_TOKEN : undefined)
  if (token) return { origin, token, isLocal }
  throw new CliError(
    `This machine has no operator token of ${origin}: set OPERATOR_TOKEN, or STATE_DIR to the folder of its state.`,
  )
}

function findDeployment(environment: NodeJS.ProcessEnv, stateDir: string): string {
  const { LATHE_NAME: name = "lathe", CLOUDFLARE_ACCOUNT_ID: account } = environment
  const found = findDeploymentsByName(stateDir, name).filter(
    ({ accountId }) => !account || accountId === account,
  )
  const [first, ...others] = found
  if (!first) {
    throw new CliError(
      `This machine has not deployed "${name}": name the service by --check --origin URL, and set OPERATOR_TOKEN to its token.`,
    )
  }
  if (others.length === 0) return first.origin
  const accounts = found.map(({ accountId }) => accountId).join(", ")
  throw new CliError(
    `"${name}" is deployed to several accounts: set CLOUDFLARE_ACCOUNT_ID to one of ${accounts}.`,
  )
}
