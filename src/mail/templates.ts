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

The link works for a day, and asks for the password of the sign-up. Without that password you can choose a new one there. If you did not sign up, do not follow the link; nothing happens then.`,
  }
}

/** To an address with an unconfirmed sign-up, after a further sign-up with the same address. */
export function signedUpAgainMail({ to, link }: Linked): Mail {
  return {
    to,
    subject: "Confirm your email address",
    text: `Hello,

somebody signed up at Lathe with ${to} again. Nothing has changed: the password of the first sign-up still counts. Confirm here that the address is yours:

${link}

The link works for a day, and asks for that password. If you do not know the password, or somebody else chose it, you can choose a new one there. If you did not sign up, do not follow the link; nothing happens then.`,
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

The link works for a day, where you are signed in. If it was not you who asked, change your password.`,
  }
}

/** To the new address of a user, after the agreement at the present address. */
export function newEmailMail({ to, link }: Linked): Mail {
  return {
    to,
    subject: "Confirm your new email address",
    text: `Hello,

please confirm that you want to sign in at Lathe with ${to}:

${link}

The link works for a day, where you are signed in. If you did not ask for this, do not follow it; nothing happens then.`,
  }
}
