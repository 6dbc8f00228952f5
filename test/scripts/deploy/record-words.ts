import { appendFileSync } from "node:fs"

// Loaded into every Node process of a run, to note what anybody on the machine could see of it.
appendFileSync(process.env["WORDS_PATH"] ?? "", `${process.argv.join(" ")}\n`)
