"""Describes exceptions for the runner, which explains them to callers."""

from refusal import Refusal

CAUSES_MAX = 10


def describe_failure(error: BaseException) -> dict:
    """Returns the class names of an exception and its causes, the HTTP status and the message. For
    a Refusal, returns its code and facts."""
    chain = list(_causes(error))
    for each in chain:
        if isinstance(each, Refusal):
            return {"refusal": each.code, "facts": each.facts, "types": [], "message": each.code}
    statuses = [getattr(each, "status", None) for each in chain]
    return {
        "types": [type(each).__name__ for each in chain],
        "status": next((each for each in statuses if isinstance(each, int)), None),
        "isRefused": any(_is_refused(each) for each in chain),
        "isRedirectLoop": any(getattr(each, "redirect_loop", False) for each in chain),
        "message": str(error)[:4000],
    }


def _causes(error: BaseException):
    """Returns an exception and its causes, the outermost first."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting and len(seen) < CAUSES_MAX:
        each = waiting.pop(0)
        if not isinstance(each, BaseException) or any(each is other for other in seen):
            continue
        seen.append(each)
        exc_info = getattr(each, "exc_info", None) or (None, None, None)
        waiting += [exc_info[1], getattr(each, "cause", None), each.__cause__, each.__context__]
    return seen


def _is_refused(error: BaseException) -> bool:
    """Reports whether an error has a response that came from the runner's proxy and not from the
    site."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers is not None and headers.get("lathe-refused") is not None
