"""A coordinator of two-phase commit. The environment variable MODE says what is wrong with it."""

import os
import threading
import time

MODE = os.environ["MODE"]
# So many votes wait for each other.
BARRIER = int(os.environ.get("BARRIER", "0"))


class Adapter:
    def start(self, workers):
        self.workers, self.votes, self.seen, self.lock = workers, {}, [], threading.Lock()
        self.has_decided = False
        self.barrier, self.returned = threading.Barrier(BARRIER) if BARRIER else None, 0

    def deliver_vote(self, worker_id, vote, round):
        if MODE == "raises" and worker_id == 2:
            raise ValueError("no such worker")
        if MODE == "stuck" and worker_id == 2 and vote == 1:
            time.sleep(3600)
        if MODE == "rounds" and round == 2:
            assert self.returned == 2, "a round begins too early"
        elif self.barrier is not None:
            self.barrier.wait()
        with self.lock:
            self.returned += 1
            self.votes[worker_id] = vote
            if len(self.votes) == self.workers:
                threading.Thread(target=self.decide).start()

    def decide(self):
        decision = "ABORT" if 1 in self.votes.values() else "commit"
        for worker, vote in self.votes.items():
            time.sleep(0.002)
            if MODE == "no-voters" and decision == "ABORT" and vote == 0:
                continue
            self.seen.append({"told": {"decision": decision, "worker_id": worker}})
        if MODE == "other":
            self.seen.append("surprise")
        self.seen.append({"completed": {"decision": decision}})
        self.has_decided = True

    def observed(self):
        return list(self.seen)

    def is_done(self):
        return "SAYS_DONE" in os.environ and self.has_decided

    def stop(self):
        if MODE == "late":
            self.seen.append({"completed": {"decision": "both"}})
