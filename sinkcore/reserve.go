package sinkcore

import (
	"errors"

	"github.com/spf13/afero"
)

// A part that grows has disk space reserved for it beyond its end. The kernel then looks for
// blocks once for some megabytes and not again for every piece that comes, which takes more
// than a third off its time for a write, and a seventh off that of a whole part with its
// fsync (BenchmarkReserve). What a reader sees and what is synced are the same: the file's
// length does not change, and what is reserved cannot be read (fallocate(2),
// FALLOC_FL_KEEP_SIZE).
//
// A small part reserves nothing, a larger one no more than it has, so that the disk never
// needs more than twice the bytes of the open parts, and none more than a small share of
// what the disk has free: others write to it too. Closing the part gives back what is left;
// of a part that a dead process has left, the restore that cuts it or [RemoveOrphans] does.
const (
	reserveFrom  = 256 << 10 // bytes that a part has when it first reserves some
	reserveMost  = 8 << 20   // bytes at a time
	reserveShare = 64        // the disk must have so many times as much free
)

// errNotReserved says that nothing was reserved, nor tried.
var errNotReserved = errors.New("no space is reserved here")

// reserve sees to it that n more bytes find space reserved, if the part is large enough to
// care. If none can be had the part does without; the error is only that of giving back.
func (p *part) reserve(n int) error {
	if p.unreserved || p.written < reserveFrom || p.written+int64(n) <= p.reserved {
		return nil
	}
	from := max(p.written, p.reserved)
	size := max(min(p.written, reserveMost), int64(n))
	err := reserveSpace(diskFile(p.file), from, size)
	if err == nil {
		p.reserved = from + size
		return nil
	}
	p.unreserved = true
	if errors.Is(err, errNotReserved) {
		return nil
	}
	// A call that fails keeps what it had found by then (ext4_alloc_file_blocks of the
	// kernel), and on a full disk others need it.
	p.reserved = from + size
	return p.giveBack()
}

// release hands all of the buffer to the file and gives back what was reserved and not used.
// It comes before the part's last fsync.
func (p *part) release() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.giveBack()
}

// giveBack frees what is reserved beyond the file's end: that is what cutting a file to the
// length that it has does (ext4_setattr of the kernel).
func (p *part) giveBack() error {
	if p.reserved <= p.written {
		return nil
	}
	if err := p.file.Truncate(p.written); err != nil {
		return err
	}
	p.reserved = 0
	p.unsynced = true
	return nil
}

// diskFile takes off what afero puts around a file.
func diskFile(f afero.File) afero.File {
	for {
		based, ok := f.(*afero.BasePathFile)
		if !ok {
			return f
		}
		f = based.File
	}
}
