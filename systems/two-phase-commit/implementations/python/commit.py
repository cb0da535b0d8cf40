"""Two-phase commit over UDP. What must not be forgotten is in a log, and survives `kill -9`.

    commit.py coordinator LOG TRANSACTIONS PARTICIPANT_ADDRESS... [MISTAKE]
    commit.py participant LOG PORT VOTE... [MISTAKE]      VOTE is yes or no, one for each transaction

MISTAKE is --forgets-decisions, --silence-is-yes or --applies-again; right programs have none.

A coordinator ends when all participants have done what is decided. A participant runs until it is
killed. Either says `ready` on standard output when it can be sent something.
"""

import os
import pathlib
import socket
import sys
import time

TIMEOUT_S = 0.1
TRIES = 3
# How long it takes to write to a disk.
WRITE_S = 0.005


class Log:
    """Lines of words on a disk."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def lines(self):
        text = self.path.read_text() if self.path.exists() else ""
        # The end of a line that a crash cut off was never written.
        return [line.split() for line in text.split("\n")[:-1]]

    def add(self, *words):
        time.sleep(WRITE_S)
        with self.path.open("a") as file:
            file.write(" ".join(map(str, words)) + "\n")
            file.flush()
            os.fsync(file.fileno())


def coordinator(log, transactions, addresses, mistake):
    links = []
    for address in addresses:
        host, port = address.split(":")
        link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        link.connect((host, int(port)))
        links.append(link)
    print("ready", flush=True)
    while True:
        lines = log.lines()
        decided = [int(words[2]) for words in lines if words[0] == "decided"]
        transaction = len(decided)
        if transaction == transactions:
            break
        if ["begun", str(transaction)] in lines:
            # It crashed before it decided: presumed abort.
            commit = 0
        else:
            log.add("begun", transaction)
            commit = int(all_vote_yes(links, transaction, mistake))
        if mistake == "--forgets-decisions":
            send_all(links, f"decide {transaction} {commit}")
            time.sleep(0.02)
        log.add("decided", transaction, commit)
    # Participants that were told before a crash are told again: they have done it, and say so.
    for transaction, commit in enumerate(decided):
        tell(links, transaction, commit)


def send_all(links, message):
    for link in links:
        try:
            link.send(message.encode())
        except ConnectionRefusedError:
            pass


def answers(links, beginning):
    """Yields answers that begin so, each with its link, until the timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while (left := deadline - time.monotonic()) > 0:
        for link in links:
            link.settimeout(max(left / len(links) / 4, 0.001))
            try:
                words = link.recv(1024).decode().split()
            except (socket.timeout, ConnectionRefusedError):
                continue
            if words[: len(beginning)] == beginning:
                yield link, words[len(beginning) :]


def all_vote_yes(links, transaction, mistake):
    waiting = list(links)
    for _ in range(TRIES):
        send_all(waiting, f"prepare {transaction}")
        for link, [vote] in answers(links, ["vote", str(transaction)]):
            if vote == "no":
                return False
            waiting = [other for other in waiting if other is not link]
            if not waiting:
                return True
    return mistake == "--silence-is-yes"


def tell(links, transaction, commit):
    waiting = list(links)
    while waiting:
        send_all(waiting, f"decide {transaction} {commit}")
        for link, _ in answers(links, ["done", str(transaction)]):
            waiting = [other for other in waiting if other is not link]
            if not waiting:
                return


def participant(log, port, votes, mistake):
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.bind(("127.0.0.1", port))
    print("ready", flush=True)
    while True:
        message, source = channel.recvfrom(1024)
        kind, transaction, *rest = message.decode().split()
        written = log.lines()
        if kind == "prepare":
            vote = votes[int(transaction)]
            if ["voted", transaction, vote] not in written:
                log.add("voted", transaction, vote)
            channel.sendto(f"vote {transaction} {vote}".encode(), source)
        else:
            is_done = any(words[:2] == ["done", transaction] for words in written)
            if not is_done or mistake == "--applies-again":
                # What is done is the line itself, so a crash leaves both or neither.
                log.add("done", transaction, *rest)
            channel.sendto(f"done {transaction}".encode(), source)


if __name__ == "__main__":
    mistakes = [word for word in sys.argv[1:] if word.startswith("--")]
    mistake = mistakes[0] if mistakes else None
    role, log, *words = [word for word in sys.argv[1:] if word not in mistakes]
    if role == "coordinator":
        coordinator(Log(log), int(words[0]), words[1:], mistake)
    else:
        participant(Log(log), int(words[0]), words[1:], mistake)
