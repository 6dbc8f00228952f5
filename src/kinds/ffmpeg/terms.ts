import type { Terms } from "../command/policy/terms.ts"

/** What to do instead of what is refused, in the words of POST /ffmpeg. */
export const FFMPEG_TERMS: Terms = {
  nameInput: "name an input here, as {{in_1}}",
  nameOutput: "name the output here, as {{out_1}} with output_filename",
  nameEither: "name an input or the output here, as {{in_1}} or {{out_1}}",
  nameItsFile: "",
  giveFile: "give the file's URI in inputs and name it here, as {{in_2}}",
  uploadFirst:
    "upload it with POST /v1/files, give svc_id://<its id> in inputs and write {{in_1}} here",
  giveInput: null,
  giveUrl: "give the same URL in inputs",
  endWithOutput: "end it with a file name, or give output_filename",
  isUnknown: "is neither an input, of which the first is in_1, nor the output, which is out_1",
  giveSeveral: "send each command as a request of its own",
}
