/** Resolutions of the renditions, for video of at least 720 lines. */
const RESOLUTIONS = ["720p", "480p", "240p"]

/**
 * Returns the body of a POST /batches whose jobs process an uploaded film: they normalize the
 * loudness, transcribe the speech, burn in captions, and make three renditions, a poster and a
 * waveform image. The captions are WebVTT, because the filter `subtitles` cannot open the empty SRT
 * file of a film without speech.
 */
export function makeLectureRequest(fileId: string) {
  return {
    jobs: {
      level: { normalize: { file_url: `svc_id://${fileId}` } },
      words: { transcribe: { file_url: "svc_id://level/file" } },
      captions: {
        commands: {
          input_files: { film: "svc_id://level/file", words: "svc_id://words/vtt" },
          output_files: { out: "lecture.mp4" },
          ffmpeg_command: "ffmpeg -i {{film}} -vf subtitles={{words}} -c:a aac {{out}}",
        },
      },
      sizes: {
        transcode: {
          source: "svc_id://captions/out",
          outputs: RESOLUTIONS.map((resolution) => ({ codec: "h264", resolution })),
        },
      },
      pictures: {
        commands: {
          input_files: { film: "svc_id://level/file" },
          output_files: { poster: "poster.jpg", waveform: "waveform.png" },
          ffmpeg_commands: [
            "ffmpeg -i {{film}} -vf thumbnail -frames:v 1 {{poster}}",
            "ffmpeg -i {{film}} -filter_complex showwavespic=s=1280x240 -frames:v 1 {{waveform}}",
          ],
        },
      },
    },
  }
}
