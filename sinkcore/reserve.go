package sinkcore

import "github.com/spf13/afero"

// A part that grows has disk space reserved for it beyond its end. The kernel then looks for
// blocks once for some megabytes and not again for every piece that comes, which takes more
// than a third off its time for a write, and a seventh off that of a whole part with its
// fsync (BenchmarkReserve). What a reader sees and what is synced are the same: the file's length does not change, and what is reserved
// cannot be read (fallocate(2), FALLOC_FL_KEEP_SIZE).
//
// A small part reserves nothing, a larger one no more than it has, so that the disk never
// needs more than twice the bytes of the open parts. Closing the part gives back what is
// left; of a part that a dead process has left, the restore that cuts it or [RemoveOrphans]
// does.
const (
	reserveFrom = 256 << 10 // bytes that a part has when it first reserves some
	reserveMost = 8 << 20   // bytes at a time
)

// neverReserve is how much a part is said to have reserved when it cannot.
const neverReserve = Never

// reserve sees to it that n more bytes find space reserved, if the part is large enough to
// care. Whatever goes wrong, the write comes next and tells.
func (p *part) reserve(n int) {
	if p.written < reserveFrom || p.written+int64(n) <= p.reserved {
		return
	}
	from := max(p.written, p.reserved)
	size := max(min(p.written, reserveMost), int64(n))
	if !reserveSpace(diskFile(p.file), from, size) {
		// Another disk, or a full one: either way it is not asked again for this part.
		p.reserved = neverReserve
		return
	}
	p.reserved = from + size
}

// release gives back what was reserved and not used, before the part's last fsync. That a
// file is cut to the length that it has frees what is beyond (ext4_setattr of the kernel).
func (p *part) release() error {
	if err := p.flush(); err != nil {
		return err
	}
	if p.reserved == neverReserve || p.reserved <= p.written {
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
