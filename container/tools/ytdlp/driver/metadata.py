"""What is told of a video whose page was read."""

FORMATS_MAX = 200

FIELDS = (
    "webpage_url",
    "duration",
    "view_count",
    "like_count",
    "comment_count",
    "uploader",
    "channel",
    "timestamp",
    "upload_date",
    "description",
    "thumbnail",
    "extractor",
)
FORMAT_FIELDS = (
    "format_id",
    "ext",
    "width",
    "height",
    "fps",
    "vcodec",
    "acodec",
    "tbr",
    "filesize",
    "filesize_approx",
)


def describe_metadata(info: dict, title: str | None) -> dict:
    """Plain values alone, whatever an extractor put in their place."""
    # A video of one format is its own format.
    formats = info.get("formats") or ([info] if info.get("url") else [])
    return {
        **_plain(info, FIELDS),
        "title": title,
        "formats": [_plain(each, FORMAT_FIELDS) for each in list(formats)[-FORMATS_MAX:]],
    }


def _plain(values: dict, names: tuple[str, ...]) -> dict:
    return {name: values[name] for name in names if isinstance(values.get(name), (str, int, float))}

