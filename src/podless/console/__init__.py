"""The browser console: its built page, and one-time links that log in the administrator.

The sources of the page are in console/ at the root of the repository; `make console` builds them into assets/.
"""
