"""In front of the workers: the HTTP application, what every request passes, and the server itself."""
