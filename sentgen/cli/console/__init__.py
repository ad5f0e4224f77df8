"""What commands share: options, output, files, progress, and Ctrl-C."""
