"""Runs cells with the magic %%msleaks, in a shell that has the two methods of IPython's which the extension calls."""
import types

import msleaks


class Shell:
    def register_magic_function(self, function, kind, name):
        assert (kind, name) == ("cell", "msleaks")
        self.magic = function

    def run_cell(self, code):
        try:
            exec(compile(code, "<ipython-input-1-1>", "exec"), globals())
        except ZeroDivisionError as error:
            print(repr(error))
            return types.SimpleNamespace(success=False)
        return types.SimpleNamespace(success=True)


shell = Shell()
msleaks.load_ipython_extension(shell)
shell.magic("training", "kept = bytearray(3 << 20)\nbytearray(20 << 20)\nprint(len(kept))")
try:
    shell.magic("", "kept = None\n1 / 0")
except Exception as failed:
    print("failed", failed._render_traceback_())
