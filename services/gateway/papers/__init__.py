"""The horde's public documents: privacy, terms, sponsors. Written as Markdown, told as Markdown or HTML.

How long things are kept is read from the policy of retention that is in force. moderation.md A10.
"""
