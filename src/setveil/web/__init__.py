"""The local web page: the same workflows in a browser, for one person on one machine. No logic of its own."""
