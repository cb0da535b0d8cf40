"""Connects test cases with the implementation."""

from office import Office


class Adapter:
    """What a test case is run on. Each has one of its own; its calls come from several threads at once."""

    def start(self, customers, seats):
        self.office = Office(seats)
        self.seen = []

    def book(self, customer):
        answer = "booked" if self.office.book() else "sold_out"
        self.seen.append({answer: {"customer": customer}})

    def observed(self):
        return list(self.seen)

    def stop(self):
        pass
