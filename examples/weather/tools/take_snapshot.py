"""The built-in tool take_snapshot, as a tool of this project.

It does what the built-in one does, until you change it:

- `title` is for people. `description` is for agents: what the tool does, and when to use it.
- `parameters` is a JSON Schema. An agent can send nothing else: take away what it shall not choose.
- `mode` is the least one in which the tool is offered: ask, act or dev.
- `read_only` says that it changes nothing.
- `execute` may change the arguments, do more, before or after, and return something else. What
  comes from a page stays set apart as such.

A change counts from the next call on.
`pagebridge tools restore take_snapshot` brings the built-in one back.
"""

title = "Take a snapshot"
description = (
    "What a page shows, as lines of its accessibility tree; each element has a uid to name it by. "
    "Passwords and one-time codes are masked."
)
parameters = {
    "type": "object",
    "properties": {
        "page": {"type": "string", "description": "Handle from list_pages, such as p1"},
        "uid": {"type": "string", "description": "Only this element and what is in it"},
        "verbose": {"type": "boolean", "description": "Also what has no meaning of its own"},
        "line": {
            "type": "integer",
            "minimum": 0,
            "description": "Where to begin, as the answer before says",
        },
    },
    "required": ["page"],
    "additionalProperties": False,
}
mode = "ask"
read_only = True


async def execute(args, context):
    # With builtin: before its name, this is the built-in tool, whatever pagebridge.toml says.
    return await context.page.call("builtin:take_snapshot", args)
