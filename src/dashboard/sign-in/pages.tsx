import { Hono } from "hono"
import type { App } from "../../http/request.ts"
import { mailedLinks } from "./mailed-links.tsx"
import { signIn } from "./sign-in.tsx"
import { signUp } from "./sign-up.tsx"

/** Pages for who is not signed in. */
export const signInPages = new Hono<App>()

signInPages.route("/", signIn)
signInPages.route("/", signUp)
signInPages.route("/", mailedLinks)
