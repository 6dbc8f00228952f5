import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { inviteUser } from "../../../src/accounts/invitations.ts"
import { MAILS_PER_HOUR_MAX } from "../../../src/accounts/mail/limited-mail.ts"
import { sweepDirectly } from "../../support/sweep.ts"
import { makeSignedInUser } from "../../support/accounts/signed-in.ts"
import { makePerson, makeService, newEmail, ORIGIN, PASSWORD, tokenOf } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })

/** Returns the subjects of the mails to an address. */
function subjectsTo(email: string): string[] {
  return service.mails.filter(({ to }) => to === email).map(({ subject }) => subject)
}

/** Sends a request many times, each from an address of its own. */
async function askOften(path: string, fields: object, times = 8): Promise<Response[]> {
  const asked = Array.from({ length: times }, () => service.visitor().post(path, fields))
  return await Promise.all(asked)
}

/** Ends the hours of all addresses but one. */
async function expireHours(but = ""): Promise<void> {
  await env.DB.prepare("update mail_counts set until = ? where address <> ?")
    .bind(Date.now() - 1, but)
    .run()
}

describe("mails that strangers request", () => {
  it.each([
    ["notice", "/sign-up/email", { password: PASSWORD }],
    ["reset", "/request-password-reset", {}],
  ] as const)("are limited to a few an hour for one address: %s", async (purpose, path, fields) => {
    const { email } = await makePerson(service)
    await expireHours()
    const before = subjectsTo(email).length
    const answers = await askOften(path, { email, ...fields })
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(subjectsTo(email).length - before).toBe(MAILS_PER_HOUR_MAX[purpose])
  })

  it("are limited to a few an hour for an address with an unconfirmed sign-up, over all purposes", async () => {
    const email = newEmail()
    await askOften("/sign-up/email", { email, password: PASSWORD })
    await askOften("/send-verification-email", { email })
    for (let at = 0; at < 8; at += 1) {
      await service.visitor().submit("/sign-in", { email, password: PASSWORD })
    }
    expect(subjectsTo(email)).toHaveLength(MAILS_PER_HOUR_MAX.confirmation)
    // Each of the mails has a link that lets the owner in.
    expect((await service.visitor().confirm(service.linkTo(email))).status).toBe(303)
  })

  it("leave room for a link to set a password after other mails used up their limit", async () => {
    const { email } = await makePerson(service)
    await askOften("/sign-up/email", { email, password: PASSWORD })
    const owner = service.visitor()
    await owner.submit("/forgot-password", { email })
    expect(subjectsTo(email).at(-1)).toBe("Set a new password")
    const token = tokenOf(service.linkTo(email))
    expect((await owner.submit("/reset-password", { token, password: PASSWORD })).status).toBe(303)
  })

  it("count together for one mailbox, with any name after a plus sign", async () => {
    const [name, host] = newEmail().split("@")
    const emails = Array.from({ length: 8 }, (_, at) => `${name}+${at}@${host}`)
    for (const email of emails) await askOften("/sign-up/email", { email, password: PASSWORD }, 1)
    expect(emails.flatMap(subjectsTo)).toHaveLength(MAILS_PER_HOUR_MAX.confirmation)
  })

  it("are limited to a few an hour if a user requests them for another's address", async () => {
    const [attacker, victim] = [await makePerson(service), newEmail()]
    for (let at = 0; at < 8; at += 1) {
      await expireHours(victim)
      await attacker.post("/change-email", { newEmail: victim })
      await attacker.submit("/verify-email", { token: tokenOf(service.linkTo(attacker.email)) })
    }
    expect(subjectsTo(victim)).toHaveLength(MAILS_PER_HOUR_MAX.confirmation)
  })

  it("are sent again an hour later, when their counts are deleted", async () => {
    const { email } = await makePerson(service)
    await askOften("/request-password-reset", { email })
    const before = subjectsTo(email).length
    await expireHours()
    await askOften("/request-password-reset", { email }, 1)
    expect(subjectsTo(email).length - before).toBe(1)
    await sweepDirectly(env, Date.now())
    const count = env.DB.prepare("select count(*) as n from mail_counts where address = ?")
    expect(await count.bind(email).first("n")).toBe(1)
    await sweepDirectly(env, Date.now() + 3_600_001)
    expect(await env.DB.prepare("select count(*) as n from mail_counts").first("n")).toBe(0)
  })

  it("leave no row if no mail is sent", async () => {
    const email = newEmail()
    await askOften("/request-password-reset", { email })
    await askOften("/send-verification-email", { email })
    const count = env.DB.prepare("select count(*) as n from mail_counts where address = ?")
    expect(await count.bind(email).first("n")).toBe(0)
  })
})

describe("an invitation to an address at its limit of mails", () => {
  it("is created without a mail, and its inviter sees it", async () => {
    const email = newEmail()
    for (let sent = 0; sent < MAILS_PER_HOUR_MAX.invitation; sent += 1) {
      const made = await inviteUser(service.env, ORIGIN, { email, plan: "trial" })
      expect(made?.mail).toBe("sent")
    }
    const operator = await makeSignedInUser({ isOperator: true })
    const page = await operator.submit("/operate/invitations", { email, plan: "trial" })
    const text = await page.text()
    expect(text).toContain("is invited without a mail")
    const link = /https:\/\/lathe\.test(\/sign-up\?invitation=[\w-]+)/.exec(text)?.[1] ?? ""
    expect(await (await service.visitor().visit(link)).text()).toContain(email)
    expect(subjectsTo(email)).toHaveLength(MAILS_PER_HOUR_MAX.invitation)
  })
})
