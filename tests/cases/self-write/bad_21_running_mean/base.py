class Stateful:
    def set_state(self, name, value):
        setattr(self, name, value)  # expect: self-write
