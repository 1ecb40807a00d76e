"""The browser studio: a server for its page, and stand-alone reports."""
