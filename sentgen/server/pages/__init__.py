"""The pages: HTML made on the server from the answers of the operations; see `sentgen.server.pages.site`."""
