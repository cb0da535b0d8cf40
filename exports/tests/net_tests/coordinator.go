// A coordinator of two-phase commit. The environment variable MODE says what is wrong with it.

package commit

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"time"
)

type Coordinator struct {
	workers int
	mutex   sync.Mutex
	votes   map[int]int
	seen    []any
	decided bool
	// So many votes wait for each other.
	barrier sync.WaitGroup
}

func isMode(mode string) bool { return os.Getenv("MODE") == mode }

func (it *Coordinator) Start(workers int) error {
	calls, _ := strconv.Atoi(os.Getenv("BARRIER"))
	it.barrier.Add(calls)
	it.workers, it.votes = workers, map[int]int{}
	return nil
}

func (it *Coordinator) DeliverVote(worker, vote, round int) error {
	if isMode("raises") && worker == 2 {
		return errors.New("no such worker")
	}
	if isMode("stuck") && worker == 2 && vote == 1 {
		time.Sleep(time.Hour)
	}
	if isMode("rounds") && round == 2 {
		if len(it.votes) != 2 {
			return errors.New("a round begins too early")
		}
	} else if os.Getenv("BARRIER") != "" {
		it.barrier.Done()
		it.barrier.Wait()
	}
	it.mutex.Lock()
	defer it.mutex.Unlock()
	it.votes[worker] = vote
	if len(it.votes) == it.workers {
		go it.decide()
	}
	return nil
}

func (it *Coordinator) observe(observation any) {
	it.mutex.Lock()
	defer it.mutex.Unlock()
	it.seen = append(it.seen, observation)
}

func (it *Coordinator) decide() {
	decision := "commit"
	for _, vote := range it.votes {
		if vote == 1 {
			decision = "ABORT"
		}
	}
	for worker, vote := range it.votes {
		time.Sleep(2 * time.Millisecond)
		if !(isMode("no-voters") && decision == "ABORT" && vote == 0) {
			it.observe(TwoPhaseCommitTold{WorkerId: worker, Decision: decision})
		}
	}
	if isMode("other") {
		it.observe(TwoPhaseCommitOther{"surprise"})
	}
	it.observe(TwoPhaseCommitCompleted{decision})
	it.mutex.Lock()
	defer it.mutex.Unlock()
	it.decided = true
}

func (it *Coordinator) Observed() []any {
	it.mutex.Lock()
	defer it.mutex.Unlock()
	return append([]any(nil), it.seen...)
}

func (it *Coordinator) IsDone() bool {
	it.mutex.Lock()
	defer it.mutex.Unlock()
	return os.Getenv("SAYS_DONE") != "" && it.decided
}

func (it *Coordinator) Stop() {
	if isMode("late") {
		it.observe(TwoPhaseCommitCompleted{"both"})
	}
}
