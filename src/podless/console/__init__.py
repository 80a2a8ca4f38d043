"""The browser console: its built page, and the one-time links that log an administrator in.

The sources of the page are in console/ at the root of the checkout; `make console` builds them into assets/.
"""
