"""Code that commands share: options, output, completion, waiting, and Ctrl-C."""
