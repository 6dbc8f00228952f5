import { expect, test } from "vitest"
import { mailTextToHtml } from "../../../src/accounts/mail/send.ts"

test("paragraphs and links of a text become those of a page", () => {
  const html = mailTextToHtml("Hello,\n\nfollow\nhttps://lathe.test/x?token=a-b_c&n=1\n\nBye.")
  expect(html).toContain("<p>Hello,</p>")
  expect(html).toContain(
    'follow<br><a href="https://lathe.test/x?token=a-b_c&amp;n=1">https://lathe.test/x?token=a-b_c&amp;n=1</a>',
  )
})

test("no part of a text becomes markup", () => {
  expect(mailTextToHtml('<b onclick="x">"&')).toContain(
    "&lt;b onclick=&quot;x&quot;&gt;&quot;&amp;",
  )
})
