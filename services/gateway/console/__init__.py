"""The pages people see at `/`: how the horde is, and a place to chat with it.

Rendered here with Jinja2; htmx fetches the figures again, and one script of ours streams the chat from `/v1`. The pages
have no data path of their own: they show what the public routes tell anyone.
"""
