package live

import "sinklab/sinkcore"

// Stats is what a job has done since it was opened, and what it holds.
type Stats struct {
	sinkcore.Stats
	Refused int64 // records that Options.Refused let drop

	Checkpoints  int64 // taken
	CheckpointID int64 // of the newest one, 0 before the first
	CheckpointAt int64 // when it was taken, milliseconds since 1970; 0 if by an earlier process
	ResumedFrom  int64 // id of the checkpoint that the job was started from, 0 if anew
	Swept        int   // in-progress files of dead processes, removed at the start

	// Position is that of the source after the last record written.
	Position []byte
}

// counts is what an engine counts as it goes.
type counts struct {
	refused, checkpoints, id, taken, resumed int64
	swept                                    int
}

// Stats can be read at any time from any goroutine, also after an error or Close. It
// waits for the call that is under way, at the longest for a checkpoint, and looks at
// each open part once.
func (e *Engine[T]) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Stats{
		Stats: e.job.Stats(), Refused: e.stats.refused,
		Checkpoints: e.stats.checkpoints, CheckpointID: e.stats.id, CheckpointAt: e.stats.taken,
		ResumedFrom: e.stats.resumed, Swept: e.stats.swept, Position: e.position,
	}
}
