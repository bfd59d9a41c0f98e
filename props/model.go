package props

// model is what a reader may and must see, worked out from the program alone: it knows
// records, checkpoints and completions, and nothing of files. So it is far simpler than a
// sink, and not likely to share a mistake with one.
//
// A program goes through lives of the source: a restore cuts the log back to its
// checkpoint, and what was cut off is to be sent again. Ids compare as in an engine: a
// completion of one covers all before it.
type model struct {
	log     []entry // what the source has sent in the life that counts
	backlog []entry // what it has to send again since the last restore

	cuts      map[int64]cut // the checkpoints of this life that can be restored or completed, by id
	ended     map[int]bool  // subtasks whose input has ended in this life
	completed int64         // the largest id that has completed, or none
	newest    int64         // the newest checkpoint that has completed, or none
	visible   int           // records log[:visible] may be visible
	rescaled  bool          // records of a subtask may be in files of another
}

// entry is a record that the source has sent.
type entry struct {
	record  string
	subtask int
}

// cut is the place of a checkpoint in the log. Records before it are covered by the
// checkpoint: they must be visible or restorable once it has completed, and may be.
type cut struct {
	length int
	ended  map[int]bool
}

// none is the id of no checkpoint.
const none int64 = -1

func newModel() *model {
	return &model{cuts: map[int64]cut{}, ended: map[int]bool{}, completed: none, newest: none}
}

// write sends a record. What was to be sent again and was not is given up.
func (m *model) write(record string, subtask int) {
	m.log = append(m.log, entry{record, subtask})
	m.backlog = nil
}

// checkpoint notes where in the log a checkpoint is. It keeps the ended subtasks as they
// are now, since more may end before it completes.
func (m *model) checkpoint(id int64) {
	ended := map[int]bool{}
	for subtask := range m.ended {
		ended[subtask] = true
	}
	m.cuts[id] = cut{len(m.log), ended}
}

// complete lets everything be visible that a checkpoint up to the id covers. It tells
// whether there was anything new. It goes through a map, which cannot be seen: what it
// takes is a maximum.
func (m *model) complete(id int64) (news bool) {
	m.completed = max(m.completed, id)
	for taken, c := range m.cuts {
		if taken <= m.completed && taken > m.newest {
			m.newest, news = taken, true
			m.visible = max(m.visible, c.length)
		}
	}
	return news
}

// restore goes back to a checkpoint, or to the beginning for none. Newer checkpoints are
// given up: the new process may take others of the same ids. What is sent again comes
// before what had still to be sent from the life before.
func (m *model) restore(id int64) {
	c := m.cuts[id]
	m.backlog = append(append([]entry(nil), m.log[c.length:]...), m.backlog...)
	m.log = m.log[:c.length:c.length]
	for taken := range m.cuts {
		if taken > id {
			delete(m.cuts, taken)
		}
	}
	m.ended = map[int]bool{}
	m.completed, m.newest, m.visible = id, id, c.length
}
