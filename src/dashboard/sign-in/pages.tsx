import { Hono } from "hono"
import type { App } from "../../http/request.ts"
import { confirmations } from "./confirmations.tsx"
import { forgottenPasswords } from "./forgotten-passwords.tsx"
import { signIn } from "./sign-in.tsx"
import { signUp } from "./sign-up.tsx"

/** Pages for who is not signed in. */
export const signInPages = new Hono<App>()

signInPages.route("/", signIn)
signInPages.route("/", signUp)
signInPages.route("/", confirmations)
signInPages.route("/", forgottenPasswords)
