"""In place of the built-in list_pages: a line for each page, for models that need no more than that."""

title = "List pages"
description = "Open pages, one a line: handle, title and URL. list_page_tools says which tools a page has."
parameters = {"type": "object", "properties": {}, "additionalProperties": False}
read_only = True


async def execute(args, context):
    # With builtin: before its name, this is the built-in tool, and not this one again.
    listed = await context.page.call("builtin:list_pages", args)
    return "\n".join(f"{page['page']} {page['title']} {page['url']}" for page in listed["pages"]) or "No page is open."
