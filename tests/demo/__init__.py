"""The main job on this machine, from a messy inventory to validated files on S3: `python -m tests.demo`."""


class DemoError(Exception):
    """What stops the demo, in a sentence."""
