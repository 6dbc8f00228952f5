import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { FfmpegSource } from "../../../container/ffmpeg/debian-source.ts"

/**
 * Fake `configure` script of ffmpeg. The programs that its Makefile builds print the script's
 * arguments and the component lists that were there at the build.
 */
export const FAKE_CONFIGURE_SCRIPT = String.raw`#!/bin/sh
printf '%s\n' "$@" >words
mkdir libavcodec libavformat libavfilter libavdevice
printf '    &ff_%s,\n' a_encoder a_decoder liba_decoder libdav1d_decoder >libavcodec/codec_list.c
echo '    &ff_a_muxer,' >libavformat/muxer_list.c
echo '    &ff_a_filter,' >libavfilter/filter_list.c
echo '    &ff_a_demuxer,' >libavdevice/indev_list.c
cat >Makefile <<'END'
ffmpeg ffprobe:
	echo "#include <stdio.h>" >$@.c
	echo "int main(void) { puts(\"$$(cat words */*_list.c | tr -d '\n')\"); return 0; }" >>$@.c
	cc -o $@ $@.c
END
`

/** Returns a fake source of ffmpeg that contains only this `configure` script. */
export function makeFakeFfmpegSource(configure: string): FfmpegSource {
  return {
    version: "7:7.1.5-0+deb13u1",
    unpackInto: async (folder) => {
      await writeFile(join(folder, "configure"), configure, { mode: 0o755 })
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}
