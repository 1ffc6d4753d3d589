"""Every bound in the bridge, in one place. Names carry their units; each is a default a caller may override."""

from typing import Final

# wire
CDP_MESSAGE_BYTES: Final = 256 * 1024 * 1024
UNSENT_BYTES: Final = 128 * 1024 * 1024
"""What may wait for a browser to take it: the shims of about a thousand documents, which it is sent one by one."""
MCP_LINE_BYTES: Final = 16 * 1024 * 1024
WEBSOCKET_QUEUE_MESSAGES: Final = 256
"""The reader drains at once, so this only absorbs a burst."""

# browser
RESTARTS: Final = 3
RESTART_WINDOW_SECONDS: Final = 300.0
"""A browser of ours that ends is started again at the next need, so often in this time."""
RECONNECT_SECONDS: Final = 0.2
RECONNECT_SECONDS_MAX: Final = 10.0
"""A browser that we attached to is looked for again after this, each time after twice as long, up to that."""
BROWSER_WAIT_SECONDS: Final = 15.0
"""How long a request waits for a browser that starts before it says so."""
ATTACH_WAIT_SECONDS: Final = 5.0
"""The same for one that runs already: what is waited for then is most likely a person."""
CONNECTING_SECONDS: Final = 1.0
"""How long an attempt to reach a browser again may take before it counts more than why the last one failed."""
CONNECT_SECONDS: Final = 10.0
HANDSHAKE_SECONDS: Final = 60.0
"""Longer, because a person may have to find and click Chrome's "Allow"."""
PROMPT_SECONDS: Final = 600.0
"""The same for a bridge that serves: to give up and try again would ask the person a second time."""
KEEP_ALIVE_SECONDS: Final = 15.0
"""How long a link may be silent before its system is asked whether the other one is there still, and how often."""
KEEP_ALIVE_PROBES: Final = 3
"""How many of these questions may stay without an answer. It is not the browser that answers them."""
HTTP_BODY_BYTES: Final = 64 * 1024
START_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 1.0
"""Every clean-up is bounded by this, also the browser's own way out before it is killed."""
TERMINATE_SECONDS: Final = 0.5
"""How long a browser that did not end by itself has after SIGTERM."""
PROFILE_SECONDS: Final = 2.0
"""How long a browser whose bridge was killed has to leave a profile that is needed again."""
STDERR_TAIL_CHARS: Final = 4096
SMALL_SHM_BYTES: Final = 64 * 1024 * 1024
"""Docker's default. A Chromium that fills /dev/shm crashes its pages."""

# page
SET_UPS: Final = 8
"""Pages of those that a browser has already that are set up at once; one that an agent asks for is besides."""
SET_UP_SECONDS: Final = 1.0
"""How long one of them may take before the next has its place, and before it is said not to answer."""
PAGES_ASKED: Final = 8
"""Pages that one listing of tools asks at once."""
LIST_SECONDS: Final = 2.0
"""How long a list of pages waits for the browser, and for pages that are still to be set up."""
DISCOVERY_SECONDS: Final = 1.0
"""How long a listing waits for answers that a page has promised, or gave the last time."""
LISTENER_SECONDS: Final = 1.0
"""How long listeners of the discovery event may run before they are ended."""
NEWS_SECONDS: Final = 0.05
"""A page that changes its tools all the time is looked at no more often than this."""
FORM_SECONDS: Final = 0.1
"""How long a form that a tool has filled in may take to submit itself before we say that it waits for a person."""
PAGE_ANSWER_SECONDS: Final = 5.0
"""How long a page's main thread may be busy before we say that it does not answer."""
LAST_WORD_SECONDS: Final = 1.0
"""How long Chromium may take to say, after a navigation, what became of a call in the document that left."""
GRACE_SECONDS: Final = 0.25
"""How long a tool that was told to stop has to end by itself."""
PROBE_SECONDS: Final = 0.15
"""How long a document may take to answer before the script that holds it is ended; and after that, each time."""
FORCE_TRIES: Final = 3
STOP_SECONDS: Final = GRACE_SECONDS + (FORCE_TRIES + 1) * PROBE_SECONDS
"""How long after its deadline a call may end."""
PROGRESS_SECONDS: Final = 0.1
"""A tool's reports of progress are read no more often than this."""
HEARTBEAT_SECONDS: Final = 15.0
"""A client that wants progress hears at least this often of a call that runs."""
DIALOGS_TOLD: Final = 10
"""Dialogs that were answered for a page since an agent was told last."""
DIALOG_CHARS: Final = 1000
"""Of one message, and of the answer that a prompt suggests."""
URL_CHARS: Final = 16 * 1024
"""Of what a page shows: any file's path fits, with each byte of it escaped. Chromium tells of any length."""
ASKED_SECONDS: Final = 1.0
"""How long a list of pages waits for those that have just loaded to say which tools they have."""
LOAD_SECONDS: Final = 10.0
"""How long an answer waits for a page to finish loading before it says what there is so far."""
NAVIGATION_SECONDS: Final = 30.0

# page: what the tools for debugging look at and do
WATCHED_EVENTS_PER_SECOND: Final = 2000.0
"""Events of consoles and networks that are read, of all pages; more are counted and dropped."""
WATCHED_EVENTS_AT_ONCE: Final = 4000
"""After a pause, so many may come together before that rate counts."""
WATCHED_EVENT_BYTES: Final = 1024 * 1024
"""Of one of them."""
CONSOLE_MESSAGES: Final = 1000
"""That are kept of one page; the oldest goes first. The same for requests below."""
CONSOLE_CHARS: Final = 2000
"""Of one message."""
CONSOLE_SHOWN: Final = 100
"""Messages in one answer; the same for requests."""
REQUESTS: Final = 500
REQUEST_URL_CHARS: Final = 2000
HEADERS: Final = 100
"""Of one request or response."""
HEADER_CHARS: Final = 2000
BODY_BYTES: Final = 1024 * 1024
"""Of a request or response, as it is asked for."""
SNAPSHOT_LINES: Final = 1000
"""Of one answer: each element in it is named in its page."""
SNAPSHOT_NODES: Final = 50_000
"""Of all accessibility trees of a page together."""
SNAPSHOT_ELEMENTS: Final = 50_000
SNAPSHOT_DOCUMENT_CHARS: Final = 20_000_000
"""Of one document that is looked at; Chromium would send a tree of any size."""
SNAPSHOT_TEXT_CHARS: Final = 500
"""Of one name or text in it."""
SNAPSHOT_DEPTH: Final = 100
"""How deep a line is indented at most."""
SNAPSHOT_TRIES: Final = 5
"""A page that goes elsewhere while it is looked at is looked at again, so often."""
SNAPSHOT_FRAMES: Final = 50
ELEMENT_SECONDS: Final = 5.0
"""How long an action waits for its element to be enabled, to stand still, and not to be covered."""
ELEMENT_LOOK_SECONDS: Final = 3.0
"""Such an element is looked at again once two frames were drawn, or after that: a page behind others draws one a
second."""
PICTURE_SECONDS: Final = 5.0
"""How long the picture may take that is wanted of what an action came to."""
SETTLE_SECONDS: Final = 5.0
"""How long an action waits at most for what it has started."""
SETTLE_QUIET_SECONDS: Final = 0.1
"""Nothing has happened for so long: what an action has started is over."""
WAIT_FOR_SECONDS: Final = 0.2
"""How often `wait_for` looks."""
FORM_FIELDS: Final = 100
FIELD_CHARS: Final = 100_000
UPLOAD_FILES: Final = 20
DRAG_STEPS: Final = 5
SCRIPT_CHARS: Final = 100_000
SCREENSHOT_PIXELS: Final = 16_384
"""Of one side of a screenshot before it is scaled down: graphics hardware draws no more."""
DRAW_SECONDS: Final = 2.0
"""How long Chromium may take to draw one before it is asked again, and twice as long each time."""
VIEWPORT_PIXELS: Final = 10_000
"""Of one side of an emulated viewport."""

# files
PATH_BYTES: Final = 4095
"""Of a path that an agent names: Linux takes no longer one."""

# tools
GROUPS_PER_PAGE: Final = 20
TOOLS_PER_PAGE: Final = 200
TOOLS_PER_LISTING: Final = 25
NAMES_PER_GROUP: Final = 25
"""In the list of all pages; a listing has the rest."""
NAME_CHARS: Final = 128
DESCRIPTION_CHARS: Final = 1000
SCHEMA_CHARS: Final = 64 * 1024
ALL_SCHEMA_CHARS: Final = 1024 * 1024
"""Of all the tools of one document: a compiled schema takes many times its text."""
KNOWN_SCHEMAS: Final = 2 * TOOLS_PER_PAGE
KNOWN_SCHEMA_CHARS: Final = 2 * ALL_SCHEMA_CHARS
"""Of the schemas that are kept for the next time, though their page may be gone: about 50 bytes each."""
SCHEMA_CHARS_AT_ONCE: Final = 8 * 1024
"""Schemas of more than this, all together, are not checked or exported without a turn for other tasks between them."""
SCHEMA_DEPTH: Final = 32
SCHEMA_SUBSCHEMAS: Final = 2000
SCHEMA_REF_PATHS: Final = 10_000
SCHEMA_ENUM_VALUES: Final = 10_000
SCHEMA_PATTERNS: Final = 100
PATTERN_CHARS: Final = 1000
PATTERN_BYTES: Final = 512 * 1024
"""Memory of one compiled pattern."""
PATTERNS_WEIGHT: Final = 8_000
"""Of all the patterns of one schema, in characters that they ask for, each as often as it repeats: at most 5 µs each
to compile. Those beyond are not checked."""
SCHEMA_STEPS: Final = 100_000
"""Work of checking one value, at most about 0.4 µs each: enough for arguments of the full size against a plain schema,
and no other call waits longer for it."""
EXPORT_REFERENCE_CHARS: Final = 32 * 1024
"""What a schema may grow by when its references are spelled out for those who read it."""

# skills
SKILLS: Final = 20
SKILL_BYTES: Final = 500_000
"""Of a skill's file."""
SKILL_CHARS: Final = 20_000
"""Of its text, without what declares its tools."""
SKILLS_CHARS: Final = 50_000
"""Of the texts of all skills together."""
SKILL_TOOLS: Final = 8
SKILL_SUMMARY_CHARS: Final = 200
SKILL_INTENTS: Final = 6
SKILL_INTENT_CHARS: Final = 40
SKILL_PROBLEMS: Final = 100
"""Of one file that are told, each with its line."""
ENDPOINT_CHARS: Final = 2048
URL_RULES: Final = 20
"""In the list of the addresses that a skill's tool may be given."""
URL_RULE_PATHS: Final = 20
SKILL_URL_CHARS: Final = 8192
"""Of an address with its arguments in it: servers take no much longer one."""
SKILL_ADDRESSES: Final = 8
"""Of one host: so many are tried, one after the other."""
SKILL_CONNECT_SECONDS: Final = 10.0
SKILL_EXCHANGE_SECONDS: Final = 30.0
"""One request and its answer, however slowly it drips; the file of a job has the job's time."""
SKILL_ANSWER_BYTES: Final = 16_000_000
"""As they come, and once more as they are unpacked."""
SKILL_DETAIL_CHARS: Final = 1000
"""Of an answer that says what went wrong."""
JOB_ID_CHARS: Final = 256
JOB_POLL_SECONDS: Final = 1.0
JOB_POLL_SECONDS_MIN: Final = 0.25
JOB_POLL_SECONDS_MAX: Final = 5.0
JOB_SECONDS: Final = 90.0
"""From the first request of a job to the end of its file."""
JOB_SECONDS_MIN: Final = 5.0
JOB_SECONDS_MAX: Final = 180.0
JOB_CLEANUP_SECONDS: Final = 5.0
"""How long a job may take to be removed, also after its call was cancelled."""
DOWNLOAD_BYTES: Final = 256 * 1024 * 1024
DOWNLOAD_NAME_BYTES: Final = 150
DOWNLOAD_NAMES: Final = 100
"""So many files may want the same name: the later ones get a number."""

# calls
CALL_SECONDS: Final = 30.0
CALL_SECONDS_MAX: Final = 600.0
CALLS_PER_PAGE: Final = 8
"""In flight: they run, or wait for their turn."""
CALLS: Final = 64
"""In flight on all pages."""
CALLS_NESTED: Final = 5
"""How many tools of ours may wait for each other, the last one for the one before it."""
CALLS_PER_SECOND: Final = 20.0
CALLS_AT_ONCE: Final = 40
"""After a pause, so many may come together before that rate counts."""
SETTINGS_BYTES: Final = 64 * 1024
"""Of a file of settings."""
PIN_BYTES: Final = 16 * 1024 * 1024
"""Of a file of pins."""
PIN_DIFFERENCE_LINES: Final = 1000
"""Of one part of a tool; where it has more, both are shown whole."""
NUMBER_CHARS: Final = 309
"""Digits of the largest integer that is a number in JavaScript."""
ARGUMENT_BYTES: Final = 256 * 1024
ARGUMENT_DEPTH: Final = 64
COERCION_PASSES: Final = 5
"""Over the arguments of one call: what a string held may have strings in it."""
FAULTS_SHOWN: Final = 5
UNCHECKED_SHOWN: Final = 10
"""Patterns of one tool that are not checked."""
SHOWN_CHARS: Final = 100
"""Of one value in an error."""
RESULT_CHARS: Final = 20_000_000
"""As they are sent: one outside of ASCII takes six. All bounds of a result are applied in the page, before anything
is sent, and what passes one is cut."""
RESULT_STRING_CHARS: Final = 16_000_000
"""Of one string inside of a result, so that what comes after it is seen."""
RESULT_DEPTH: Final = 64
RESULT_NODES: Final = 200_000
"""Values of any kind, all together."""
RESULT_KEYS: Final = 100_000
"""Of one object."""
RESULT_ITEMS: Final = 100_000
"""Of one array, map or set."""
RESULT_INSIDERS: Final = 10_000
"""Objects inside one class instance."""
RESULT_CLASSES: Final = 16
"""Of these objects. An instance that passes one of the two bounds is taken for the inside of a framework, and shown
by its own fields alone."""
MEDIA_BYTES: Final = 1_000_000
"""Of a picture or a sound that an agent gets to see or hear; a larger picture is drawn smaller in the page."""
MEDIA_PIXELS: Final = 1568
"""Longer side of such a picture. Models scale larger ones down themselves, and bill them."""
DECODED_PIXELS: Final = 64_000_000
"""Of a picture that is decoded in order to be drawn smaller: four bytes each."""
MEDIA_BLOCKS: Final = 10
"""Pictures, sounds and resources in one answer."""
FILE_BYTES: Final = 16_000_000
"""Of other binary data, which goes to a file; more of it does not leave the page."""
INLINE_BYTES: Final = 50 * 1024
INLINE_LINES: Final = 2000
STRUCTURED_CHARS: Final = 64 * 1024
"""Of a result that is told in structured content as well: whoever shows more inline does not want it twice."""
SPILL_BYTES: Final = 256 * 1024 * 1024
"""Of all kept results together; beyond it the oldest goes."""
LOOP_CALLS: Final = 6
"""Of one page, the last ones that are looked at for circles in which an agent goes."""
LOOP_PAGES: Final = 64
LOOP_ANSWER_CHARS: Final = 64 * 1024
"""Of an answer, or of one text in arguments: what differs beyond, at the same length, is taken for the same."""
LOOP_ADDRESS_CHARS: Final = 2000
LOOP_PARTS: Final = 500
"""Values in arguments, and names of them."""
LOOP_PIXELS: Final = 5
"""Points in a square of this size are one."""
LOOP_PIXELS_MAX: Final = 1_000_000
"""What lies farther out is no point of a page."""
MASKED_SECRET_CHARS: Final = 4
"""Of the shortest secret of a project that is masked in results."""
LOG_ARGUMENT_CHARS: Final = 10_000
"""Of one call's arguments in the log."""
LOG_WORD_CHARS: Final = 1000
"""Of any other word there: a tool's name as the agent wrote it, the sentence of an error."""
LOG_LINE_BYTES: Final = 1024 * 1024
"""A longer line is none of ours, whoever wrote it."""
FOLLOW_SECONDS: Final = 0.2
"""How often a log that is followed is looked at."""

# modules of a project
MODULE_BYTES: Final = 1024 * 1024
"""Of the file of one."""
MODULE_TOOLS: Final = 25
"""Of one module."""
MODULE_FILES: Final = 1000
"""Of its project that it imports, and that are looked at for changes."""
MODULE_LOAD_SECONDS: Final = 10.0
MODULES_AT_ONCE: Final = 4
"""Modules that are loaded at the same time."""
MODULE_PROCESSES: Final = 8
"""Of one module: each runs one call at a time."""
MODULE_PROCESSES_WAITING: Final = 16
"""Of all modules, for their next call: each takes memory. One that had to go is started again when it is needed."""
MODULE_MESSAGE_BYTES: Final = 32 * 1024 * 1024
"""From the process of a module, or to it."""
REASON_CHARS: Final = 1000
"""Why an action is applied or discarded."""
MODULE_CALL_SECONDS: Final = 120.0
"""What a call of a project's tool may take."""
MODULE_CALLS_SEEN: Final = 100
"""The last calls of its session that a module sees."""
PROJECT_LOOK_SECONDS: Final = 2.0
"""How often the files of a project are looked at while nothing is called."""
MODULE_HOOK_SECONDS: Final = 5.0
MODULE_SHUTDOWN_SECONDS: Final = 2.0
"""How long all modules together may take to hear that their session ends."""
MODULE_ASKS: Final = 16
"""What one process asks of the bridge at the same time; the rest waits there for its turn."""
MODULE_ACTIONS: Final = 20
"""Actions of one process that wait to be applied or discarded."""
MODULE_ERROR_CHARS: Final = 10_000
"""Of the message of an exception."""
MODULE_LOG_LINES: Final = 1000
"""That one process may log, or print, between two calls."""
MODULE_LOG_CHARS: Final = 2000
"""Of one of these lines."""
EXEC_OUTPUT_BYTES: Final = 1024 * 1024
"""Of each output of a command; what is more is read, and dropped."""

# serve
DIRECT_TOOLS: Final = 100
"""Page tools that are MCP tools of their own: clients and LLM APIs refuse more, or cut them."""
DIRECT_NAME_CHARS: Final = 40
"""Clients put the server's name before it, and 64 characters are what APIs take."""
DIRECT_NAMES_KEPT: Final = 3 * DIRECT_TOOLS
"""Names that an agent was shown, and that mean no other tool for as long as they are kept."""
NOTICE_SECONDS: Final = 0.25
"""Changes that come together are one notice. It holds this long, and what it says is what there is then."""
NOTICE_PAGE_SECONDS: Final = 1.0
"""How long a notice waits for pages between two documents: a reload that changes nothing is no news."""
QUIET_SECONDS: Final = 0.5
"""Nothing was asked for so long: it is time for what can wait."""
OPEN_REQUESTS: Final = 256
"""Of one client, read and not answered. It is read no further until it has taken some of its answers."""
PARENT_SECONDS: Final = 1.0
"""How often we look for our parent, where nothing tells of its end."""
LAST_ANSWERS_SECONDS: Final = 1.0
"""How long requests that were already read may go on after stdin's end."""

# serve: what a tool of a project asks the person
CALLS_ASKING: Final = 16
"""That wait for the person at the same time."""
QUESTIONS_PER_CALL: Final = 10
"""Clients give up a call that comes back with more of them."""
QUESTION_CHARS: Final = 2000
"""A longer one is not asked: cut, it could ask something else."""
QUESTION_OPTIONS: Final = 50
QUESTION_OPTION_CHARS: Final = 200
REPLY_CHARS: Final = 10_000
REPLY_SECONDS: Final = 600.0
"""How long a person may take, and how long a call waits for the request that brings what they said."""

# manifest
MANIFEST_BYTES: Final = 64 * 1024
"""Of pagebridge.toml, and of each file that it imports."""
MANIFEST_FILES: Final = 20
MANIFEST_DEPTH: Final = 8
"""Parts of a key, and brackets inside of each other; a parser's time grows with the square of them."""
MANIFEST_TOOLS: Final = 200
MANIFEST_SKILLS: Final = 20
GIT_SECONDS: Final = 10
"""Until git has said which files it tracks."""
PROJECT_FILE_BYTES: Final = 1024 * 1024
"""Of a module or a skill."""
SECRET_BYTES: Final = 64 * 1024
"""Of one secret."""
SECRETS: Final = 100
"""Of one project."""
