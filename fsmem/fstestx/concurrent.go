package fstestx

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/afero"
)

// goroutines and rounds are enough for a lost update to show, and few enough for a disk.
const (
	goroutines = 16
	rounds     = 16
)

// together runs f in all goroutines at once, and returns the errors by goroutine.
func together(f func(g int) error) []error {
	var wg sync.WaitGroup
	errs := make([]error, goroutines)
	start := make(chan struct{})
	for g := range goroutines {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					errs[g] = fmt.Errorf("%s%v", panicPrefix, v)
				}
			}()
			<-start
			errs[g] = f(g)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func checkConcurrentCreate(c *check) {
	c.must(c.FS.Mkdir(c.full("d"), 0o700))
	for _, err := range together(func(g int) error {
		for i := range rounds {
			if err := c.put(fmt.Sprintf("d/%d-%d", g, i), "x"); err != nil {
				return err
			}
		}
		return nil
	}) {
		c.must(err)
	}
	names, err := c.names("d")
	c.must(err)
	if len(names) != goroutines*rounds {
		c.errorf("%d files were made, %d are listed", goroutines*rounds, len(names))
	}
}

func checkConcurrentExclusive(c *check) {
	for i := range rounds {
		for _, made := range []struct {
			by  string
			try func() error
		}{
			{"Mkdir", func() error { return c.FS.Mkdir(c.full(fmt.Sprintf("d%d", i)), 0o700) }},
			{"O_EXCL", func() error {
				f, err := c.FS.OpenFile(c.full(fmt.Sprintf("f%d", i)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
				if err != nil {
					return err
				}
				return f.Close()
			}},
		} {
			won := 0
			for _, err := range together(func(int) error { return made.try() }) {
				if err == nil {
					won++
				} else if f := failureOf(err, c.relative); !f.is("EEXIST") {
					c.errorf("%s: %v, want EEXIST", made.by, err)
				}
			}
			if won != 1 {
				c.errorf("%s made one name %d times", made.by, won)
			}
		}
	}
}

func checkConcurrentAppend(c *check) {
	c.must(c.put("a", ""))
	for _, err := range together(func(g int) error {
		f, err := c.FS.OpenFile(c.full("a"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		for range rounds {
			if _, err := f.WriteString(strings.Repeat(string(rune('a'+g)), 15) + "\n"); err != nil {
				return err
			}
		}
		return nil
	}) {
		c.must(err)
	}
	b, err := afero.ReadFile(c.FS, c.full("a"))
	c.must(err)
	counts := make(map[string]int)
	for line := range strings.Lines(string(b)) {
		counts[line]++
	}
	for g := range goroutines {
		line := strings.Repeat(string(rune('a'+g)), 15) + "\n"
		if counts[line] != rounds {
			c.errorf("%q was written %d times, and is there %d times", line, rounds, counts[line])
		}
	}
	if want := goroutines * rounds * 16; len(b) != want {
		c.errorf("%d bytes were written, and %d are there", want, len(b))
	}
}

func checkConcurrentRename(c *check) {
	for i := range rounds {
		c.must(c.put("a", "abc"))
		removed, moved := 0, 0
		for g, err := range together(func(g int) error {
			if g%2 == 0 {
				return c.FS.Remove(c.full("a"))
			}
			return c.FS.Rename(c.full("a"), c.full(fmt.Sprintf("b%d", g)))
		}) {
			switch {
			case err == nil && g%2 == 0:
				removed++
			case err == nil:
				moved++
			default:
				if f := failureOf(err, c.relative); !f.is("ENOENT") {
					c.errorf("round %d: %v, want ENOENT", i, err)
				}
			}
		}
		if removed+moved != 1 {
			c.errorf("round %d: one name was removed %d times and renamed %d times", i, removed, moved)
		}
		names, err := c.names(".")
		c.must(err)
		if len(names) != moved {
			c.errorf("round %d: %d renames succeeded, and what is left is %v", i, moved, names)
		}
		for _, name := range names {
			c.must(c.FS.Remove(c.full(name)))
		}
	}
}

func checkConcurrentHandle(c *check) {
	f, err := c.FS.OpenFile(c.full("a"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	c.must(err)
	for g, err := range together(func(g int) error {
		for range rounds {
			var err error
			switch g % 4 {
			case 0:
				_, err = f.Write([]byte("x"))
			case 1:
				_, err = f.Stat()
			case 2:
				_, err = f.Seek(0, io.SeekEnd)
			case 3:
				_, err = c.FS.Stat(c.full("a"))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			c.errorf("goroutine %d: %v", g, err)
		}
	}
	info, err := f.Stat()
	c.must(err)
	if want := int64(goroutines / 4 * rounds); info.Size() != want {
		c.errorf("%d bytes were written, and the size is %d", want, info.Size())
	}
	closed := 0
	for _, err := range together(func(int) error { return f.Close() }) {
		if err == nil {
			closed++
		} else if f := failureOf(err, c.relative); !f.is(causeClosed) {
			c.errorf("Close: %v, want fs.ErrClosed", err)
		}
	}
	if closed != 1 {
		c.errorf("Close succeeded %d times", closed)
	}
}
