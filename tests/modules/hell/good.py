"""A tool that counts its calls in one process: whoever harms it, or its process, is seen."""

import os

count = 0
description = "Count the calls, and say in which process."
parameters = {"type": "object", "additionalProperties": False}


def execute(args, context):
    global count
    count += 1
    return [count, os.getpid()]
