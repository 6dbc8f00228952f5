import { randomBytes } from "node:crypto"
import { appointOperator } from "../../keys/operator.ts"
import type { ServiceProcess } from "../../local/service-process.ts"

/** Makes an operator with a password and signs in; answers the cookies, as a browser sends them. */
export async function signInOperator(
  { origin, operator }: Pick<ServiceProcess, "origin" | "operator">,
  email: string,
): Promise<string> {
  const newPassword = randomBytes(18).toString("base64url")
  const token = new URL(await appointOperator(operator, email)).searchParams.get("token")
  await ask(origin, "/reset-password", { newPassword, token })
  const answer = await ask(origin, "/sign-in/email", { email, password: newPassword })
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ")
}

async function ask(origin: string, path: string, body: object): Promise<Response> {
  const answer = await fetch(`${origin}/api/auth${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify(body),
  })
  if (answer.ok) return answer
  throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
}
