import { expect, test } from "vitest"
import { isSupportedFfmpegVersion } from "../../scripts/setup/ffmpeg.ts"

test.each([
  ["ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2026", true],
  ["ffprobe version n7.1 Copyright (c)", true],
  ["ffmpeg version 8.0 Copyright (c)", true],
  ["ffmpeg version N-118000-gabcdef Copyright (c)", true],
  ["ffmpeg version 2026-01-05-git-2892815c45 Copyright (c)", true],
  ["ffmpeg version 4.4.2-0ubuntu0.22.04.1 Copyright (c)", false],
  ["ffmpeg version n4.4 Copyright (c)", false],
  ["avconv version 12", false],
  ["", false],
])("'%s' is usable: %s", (banner, usable) => {
  expect(isSupportedFfmpegVersion(banner)).toBe(usable)
})
