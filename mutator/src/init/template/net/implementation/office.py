"""An office that sells seats: put your own implementation in its place."""

import threading


class Office:
    def __init__(self, seats):
        self.free = seats
        self.lock = threading.Lock()

    def book(self):
        """Returns whether there was a seat."""
        with self.lock:
            if self.free == 0:
                return False
            self.free -= 1
            return True
