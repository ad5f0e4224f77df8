"""Be a worker of the server: ``python -m sentgen.server OPENING``."""

from sentgen.system.processes import importing

with importing():
    from sentgen.server.worker import main

main()
