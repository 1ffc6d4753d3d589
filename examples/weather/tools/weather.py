"""The weather in a city, from an API that wants a key."""

import json
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

title = "Weather"
description = (
    "The weather in a city now: the sky in a word, the temperature in °C, the wind in km/h. Use it for questions "
    "about today and one place. It knows no other days."
)
parameters = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Its name in English, such as Brest"}},
    "required": ["city"],
    "additionalProperties": False,
}
read_only = True


def execute(args, context):
    key = context.env.get("WEATHER_API_KEY")
    if not key:
        raise LookupError("WEATHER_API_KEY is not set. Ask the user to run: pagebridge secrets set WEATHER_API_KEY")
    api = context.env.get("WEATHER_API_URL", "http://127.0.0.1:8040")
    request = Request(f"{api}/v1/weather?{urlencode({'city': args['city']})}")
    request.add_unredirected_header("Authorization", f"Bearer {key}")  # for this API, wherever it may redirect to
    try:
        with urlopen(request, timeout=10) as answer:
            now = json.load(answer)
    except HTTPError as error:
        with error:
            raise RuntimeError(f"The weather API says: {error.read(500).decode(errors='replace')}") from error
    return {"city": now["city"], "sky": now["sky"], "celsius": now["celsius"], "wind": now["wind"]}
