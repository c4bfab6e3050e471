"""Tell the user once that kernels are being compiled, which makes the first fit after installation slow."""

import logging

from numba.core import event


class _Notice(event.Listener):
    """Notified whenever numba compiles, but not when it finds machine code on disk."""

    given = False

    def on_start(self, event: event.Event) -> None:
        if not self.given and event.data["dispatcher"].py_func.__module__.startswith(__package__):
            self.given = True
            logging.getLogger("fewvars").warning(
                "fewvars is compiling its kernels for this machine, which may take half a minute. The machine code is "
                "kept, so that only the first fit after installation has to wait."
            )

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())
