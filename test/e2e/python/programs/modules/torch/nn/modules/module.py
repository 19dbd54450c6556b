"""A stand-in for PyTorch's class of modules. It calls a module in the two ways of PyTorch's versions."""


class Module:
    def __init__(self):
        self.__dict__["_modules"] = {}

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self.__dict__["_modules"][name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        return self.__dict__["_modules"][name]

    def _wrapped_call_impl(self, *arguments):
        return self._call_impl(*arguments)

    def _call_impl(self, *arguments):
        def inner():
            return self.forward(*arguments)

        return inner()

    __call__ = _wrapped_call_impl


class OldModule(Module):
    def _call_impl(self, *arguments):  # as in PyTorch 1.13
        return self.forward(*arguments)

    __call__ = _call_impl
