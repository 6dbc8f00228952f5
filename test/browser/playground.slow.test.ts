import { execFileSync } from "node:child_process"
import { beforeAll, describe, expect, it } from "vitest"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { expectAccessible, expectNoOverflow, LACK, PHONE, takePicture } from "./browser.ts"
import { useStage } from "./stage.ts"
import { makeFilm } from "./film.ts"

let film: { path: string }

const stage = useStage()

describe.skipIf(LACK !== null)(`the playground in a browser${makeSkipSuffix(LACK)}`, () => {
  beforeAll(async () => {
    film = stage.use(await makeFilm())
  })

  it("validates a command while it is typed", async () => {
    const page = await stage.openPage()
    await page.goto("/playground")
    const command = page.getByLabel("FFmpeg command")
    await command.fill("ffmpeg -f lavfi -i testsrc2=duration=1 -hwaccel {{out_1}} {{in_9}}")
    await page.locator("#error-command").getByText("in_9").waitFor()
    expect(await command.getAttribute("aria-invalid")).toBe("true")
    expect(await page.evaluate("document.activeElement.name")).toBe("command")
    await expectAccessible(page)
    await takePicture(page, "playground-wrong")
    await command.fill("ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}")
    await page.getByText("The command is valid.").waitFor()
    expect(await command.getAttribute("aria-invalid")).toBeNull()
    await page.getByText("testsrc2=duration=1 test-film.mp4").waitFor()
    await page.getByLabel("Output 1: name").fill("a/b.mp4")
    await page.locator("#error-output-1").getByText("without a folder").waitFor()
  })

  it("reports duplicate keys, missing files and the faulty command, and keeps other rows", async () => {
    const page = await stage.openPage({ expected: [/answer: 422 POST .*\/v1\/commands$/] })
    await page.goto("/playground?recipe=concat")
    await page.locator("#error-input-2").getByText("choose a file, or enter a URL").waitFor()
    await page.getByText("The command has errors").waitFor()
    await page.getByRole("button", { name: "Remove input 1" }).click()
    expect(await page.getByLabel("Input 1: key").inputValue()).toBe("in_2")
    await page.getByRole("button", { name: "Add an output" }).click()
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(
      "Output 2: key",
    )
    await page.getByLabel("Output 2: key").fill("out_1")
    await page.getByLabel("Output 2: name").fill("<b>.mp4")
    await page.locator("#error-output-1").getByText("another row has this key").waitFor()
    await page.getByLabel("FFmpeg command").fill("ffmpeg -version\nffmpeg -i {{in_7}} {{out_1}}")
    await page.locator("#error-command").getByText("command 2: ").waitFor()
    expect(await page.getByLabel("Output 2: name").inputValue()).toBe("<b>.mp4")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByText("The command cannot run").waitFor()
    expect(new URL(page.url()).searchParams.has("job")).toBe(false)
  })

  it("shows the request as a shell command, quoted for any input", async () => {
    const page = await stage.openPage()
    await page.goto("/playground")
    const typed = `ffmpeg -metadata 'title=it"s $(touch x) \`id\` a\\b $LATHE_KEY' {{out_1}}`
    await page.getByLabel("FFmpeg command").fill(typed)
    await page.locator("#curl").getByText("touch x", { exact: false }).waitFor()
    const line = (await page.locator("#curl code").textContent()) ?? ""
    const script = `curl() { printf '%s\\0' "$@"; }; ${line}`
    const words = execFileSync("sh", ["-c", script], { env: { LATHE_KEY: "the key" } }).toString()
    const [url, , key, , , , body = ""] = words.split("\0")
    expect([url, key]).toEqual([`${stage.service.origin}/v1/commands`, "X-API-Key: the key"])
    const output_files = { out_1: "test-film.mp4" }
    expect(JSON.parse(body)).toEqual({ input_files: {}, output_files, ffmpeg_command: typed })
  })

  it("runs a command once for a double click, and shows it at the URL of its job", async () => {
    const page = await stage.openPage()
    await page.goto("/playground")
    const command = page.getByLabel("FFmpeg command")
    await command.fill("ffmpeg -f lavfi -i testsrc2=duration=1 -f mp4 {{out_1}}\nffmpeg -version")
    await page.locator("#error-command").getByText("command 2: ").waitFor()
    await command.fill("ffmpeg -f lavfi -i testsrc2=duration=1 -f mp4 {{out_1}}")
    await page.getByRole("button", { name: "Run", exact: true }).dblclick()
    await page.waitForURL("**/playground?job=*")
    await page.reload()
    await page.getByText("The command is valid.").waitFor()
    expect(await command.inputValue()).toContain("-f mp4")
    await page.goto("/jobs")
    expect(
      await page
        .locator("tbody tr")
        .filter({ hasText: /now|minute/ })
        .count(),
    ).toBe(1)
  })

  it("uploads a file, runs a recipe on it and follows the job to its end", async () => {
    const page = await stage.openPage()
    await page.goto("/playground")
    await page.getByLabel("Recipe").selectOption("720p")
    await page.getByLabel("Input 1: file or URL").waitFor()
    await page.locator("#error-input-1").getByText("choose a file, or enter a URL").waitFor()
    await page.getByLabel("Files to upload").setInputFiles(film.path)
    await page.locator("#note-input-1").getByText("film.mp4").waitFor()
    await page.getByText("The command is valid.").waitFor()
    await page.getByRole("button", { name: "Run" }).click()
    await page.locator("#result").getByText("completed").waitFor({ timeout: 30_000 })
    await page.locator("#result").getByRole("link", { name: "720p.mp4" }).waitFor()
    expect(new URL(page.url()).searchParams.has("job")).toBe(true)
    await expectAccessible(page)
    await takePicture(page, "playground")
    await page.setViewportSize(PHONE)
    await expectNoOverflow(page)
    await takePicture(page, "playground-phone")
  })

  it("works by keyboard alone", async () => {
    const page = await stage.openPage({ colorScheme: "dark" })
    await page.goto("/playground")
    await page.getByLabel("Recipe").focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByLabel("Input 1: key").waitFor()
    await page.getByRole("button", { name: "Remove input 1" }).press("Enter")
    await page.getByLabel("Input 1: key").waitFor({ state: "detached" })
    const command = page.getByLabel("FFmpeg command")
    await command.fill("ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}")
    await page.getByRole("button", { name: "Run", exact: true }).press("Enter")
    await page.locator("#result").getByText("completed").waitFor({ timeout: 30_000 })
    expect(await page.locator("#result").getByRole("link", { name: "test-film.mp4" }).count()).toBe(
      1,
    )
    await takePicture(page, "playground-dark")
  })

  it("keeps edits made while a job runs, and submits them as a new job", async () => {
    const page = await stage.openPage()
    await page.goto("/playground")
    const command = page.getByLabel("FFmpeg command")
    await command.fill("ffmpeg -re -f lavfi -i testsrc2=duration=2 {{out_1}}")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.waitForURL("**/playground?job=*")
    const first = page.url()
    await command.fill("ffmpeg -f lavfi -i testsrc2=duration=1:rate=5 {{out_1}}")
    await page.locator("#result").getByText("completed").waitFor({ timeout: 30_000 })
    expect(await command.inputValue()).toContain("rate=5")
    await page.locator("#curl").getByText("rate=5", { exact: false }).waitFor()
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.waitForURL((url) => url.href !== first)
  })
})
