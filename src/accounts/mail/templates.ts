import type { Mail } from "./send.ts"

type LinkMail = { to: string; link: string }

export function invitationMail({ to, link }: LinkMail): Mail {
  return {
    to,
    subject: "You are invited to Lathe",
    text: `Hello,

You are invited to use Lathe, a service that processes video and audio. Choose a password to begin:

${link}

The link works for ${to}, for 7 days.`,
  }
}

export function verificationMail({ to, link }: LinkMail): Mail {
  return {
    to,
    subject: "Confirm your email address",
    text: `Hello,

Please confirm that ${to} is your email address at Lathe:

${link}

The link works for a day. Its page asks for the password of your sign-up, or lets you choose a new one. If you did not sign up, ignore this mail.`,
  }
}

/** Mail after a repeated sign-up with an address whose first sign-up is not confirmed yet. */
export function repeatedSignUpMail({ to, link }: LinkMail): Mail {
  return {
    to,
    subject: "Confirm your email address",
    text: `Hello,

Somebody signed up at Lathe with ${to} again. The password of the first sign-up is still valid. Confirm your email address here:

${link}

The link works for a day. Its page asks for that password, or lets you choose a new one. If you did not sign up, ignore this mail.`,
  }
}

/** Mail after a sign-up with the address of an existing user. */
export function existingUserMail({ to, link }: LinkMail): Mail {
  return {
    to,
    subject: "You already have an account at Lathe",
    text: `Hello,

Somebody tried to sign up at Lathe with ${to}, but this address already has an account. If it was you, sign in or set a new password here:

${link}

If it was not you, ignore this mail.`,
  }
}

export function passwordResetMail({ to, link }: LinkMail): Mail {
  return {
    to,
    subject: "Set a new password",
    text: `Hello,

Set a new password for ${to} at Lathe here:

${link}

The link works once, within an hour. If you did not request it, ignore this mail.`,
  }
}

/** Mail to the present address of a user who requests a new address. */
export function agreeToNewEmailMail({ to, link, newEmail }: LinkMail & { newEmail: string }): Mail {
  return {
    to,
    subject: "Change your email address",
    text: `Hello,

You asked to change your email address at Lathe from ${to} to ${newEmail}. Follow this link to agree; Lathe then mails a second link to the new address:

${link}

The link works for a day, in a browser in which you are signed in. If you did not request the change, change your password.`,
  }
}

/**
 * Mail to the new address of a user, after the user followed the link that was mailed to the
 * present address.
 */
export function confirmNewEmailMail({ to, link }: LinkMail): Mail {
  return {
    to,
    subject: "Confirm your new email address",
    text: `Hello,

Please confirm ${to} as your new email address at Lathe:

${link}

The link works for a day, in a browser in which you are signed in. If you did not request the change, ignore this mail.`,
  }
}
