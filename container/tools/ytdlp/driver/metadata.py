"""Selects the metadata of a video that the runner needs."""

FORMATS_MAX = 200

FIELDS = (
    "webpage_url duration view_count like_count comment_count uploader channel timestamp "
    "upload_date description thumbnail extractor"
).split()
FORMAT_FIELDS = "format_id ext width height fps vcodec acodec tbr filesize filesize_approx".split()


def describe_metadata(info: dict, title: str | None) -> dict:
    """Returns the selected metadata of a video. Drops values that are not text or numbers."""
    # A video with a single format has no list of formats.
    formats = info.get("formats") or ([info] if info.get("url") else [])
    return {
        **_plain(info, FIELDS),
        "title": title,
        "formats": [_plain(each, FORMAT_FIELDS) for each in list(formats)[-FORMATS_MAX:]],
    }


def _plain(values: dict, names: list[str]) -> dict:
    return {name: values[name] for name in names if isinstance(values.get(name), (str, int, float))}

