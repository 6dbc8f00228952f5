import type { IncomingMessage, ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"

export type GitLabUser = { id: number; email: string; confirmed_at: string | null }

/** Stand-in for GitLab's sign-in: consent page, tokens and user. */
export async function startGitLab() {
  const users = new Map<string, GitLabUser>()
  const asked: string[] = []
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "", "http://gitlab").pathname
    asked.push(path)
    function reply(body: unknown): void {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
    }
    if (path === "/oauth/token") {
      const form = new URLSearchParams(await text(request))
      const hasSecret = form.get("client_secret") === "gitlab-secret"
      if (!hasSecret || !form.get("code_verifier")) return void response.writeHead(401).end()
      return reply({ access_token: form.get("code"), token_type: "bearer", expires_in: 60 })
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? ""
    const user = users.get(token)
    if (path !== "/api/v4/user" || !user) return void response.writeHead(404).end()
    reply({ username: "ada", name: "Ada", state: "active", locked: false, ...user })
  }
  const server = await startLoopbackServer((request, response) => void answer(request, response))
  return {
    origin: server.origin,
    host: `127.0.0.1:${server.port}`,
    asked,
    /** Says who consented, by the code that comes back. */
    consent(code: string, user: GitLabUser): void {
      users.set(code, user)
    },
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  }
}
