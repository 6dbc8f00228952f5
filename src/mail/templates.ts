import type { Mail } from "./send.ts"

type Linked = { to: string; link: string }

export function invitationMail({ to, link }: Linked): Mail {
  return {
    to,
    subject: "You are invited to Lathe",
    text: `Hello,

you are invited to use Lathe, a service that works on video and sound. Choose a password to begin:

${link}

The link is for ${to} and works for 7 days.`,
  }
}

export function verificationMail({ to, link }: Linked): Mail {
  return {
    to,
    subject: "Confirm your email address",
    text: `Hello,

please confirm that ${to} is your address at Lathe:

${link}

The link works for a day. If you did not ask for this, do not follow it; nothing happens then.`,
  }
}

/** To who signs up with an address that has a user already. */
export function knownUserMail({ to, link }: Linked): Mail {
  return {
    to,
    subject: "You have an account at Lathe already",
    text: `Hello,

someone tried to sign up at Lathe with ${to}, which has an account already. If that was you, sign in here, where you can also set a new password:

${link}

If it was not, there is nothing to do.`,
  }
}

export function resetMail({ to, link }: Linked): Mail {
  return {
    to,
    subject: "Set a new password",
    text: `Hello,

set a new password for ${to} at Lathe here:

${link}

The link works once, for an hour. If you did not ask for it, there is nothing to do.`,
  }
}

/** To the address that a user has now, before another one takes its place. */
export function changeEmailMail({ to, link, newEmail }: Linked & { newEmail: string }): Mail {
  return {
    to,
    subject: "Change your email address",
    text: `Hello,

you asked to sign in at Lathe with ${newEmail} instead of ${to}. Follow this link to agree; another one goes to the new address:

${link}

The link works for a day. If it was not you who asked, change your password.`,
  }
}
