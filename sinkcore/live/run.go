package live

import (
	"context"
	"errors"
	"io"
)

// Run drives a job on a clock until the source ends, the context is done, or something
// fails. It sets the source to where the job stands, writes what it gives, and keeps the
// timers. It does not close the engine.
//
// At the end of the input the job stops with [EndOfInput]; when ctx is done it stops as
// asked, and Run returns nil all the same. If the source fails, what it gave before is
// good: the job stops with [Savepoint], and the source's error is returned. After an
// error of the job close it and open it again.
func Run[T any](ctx context.Context, clock Clock, e *Engine[T], source Source[T], onDone Stop) error {
	if err := source.Seek(e.Position()); err != nil {
		return err
	}
	// The loop does not look at ctx itself: the source ends when it is done, and what it
	// gave until then is written first.
	reading, cancel := context.WithCancel(ctx)
	inputs := read(reading, source)
	defer func() {
		cancel()
		for range inputs { // until the reader has gone
		}
	}()
	for {
		in, more, err := await(clock, e, inputs)
		if err != nil {
			return err
		}
		if !more {
			continue
		}
		now := clock.Now()
		// The time is taken anew, for the wait may have been long.
		switch {
		case in.err == nil:
			if err := e.Write(in.batch, now); err != nil {
				return err
			}
		case in.err == io.EOF:
			return e.Stop(EndOfInput, now)
		// A source may have a context of its own; only the end of ours is a stop.
		case ctx.Err() != nil && errors.Is(in.err, ctx.Err()):
			return e.Stop(onDone, now)
		default:
			return errors.Join(in.err, e.Stop(Savepoint, now))
		}
	}
}

// await returns the next input; or more = false after a timer that was due has been
// served. A timer comes first, so that a source that never pauses delays none by more than
// a batch.
func await[T any](clock Clock, e *Engine[T], inputs <-chan input[T]) (in input[T], more bool, err error) {
	due := e.Due()
	if now := clock.Now(); now >= due {
		return in, false, e.Advance(now)
	}
	select {
	case in = <-inputs: // most of the time there is one, and a timer costs more than a batch
		return in, true, nil
	default:
	}
	fired, stop := clock.Timer(due)
	defer stop()
	select {
	case in = <-inputs:
		return in, true, nil
	case <-fired:
		return in, false, nil
	}
}

// input is what a source returned.
type input[T any] struct {
	batch Batch[T]
	err   error
}

// read reads a source in a goroutine of its own, one batch ahead, until it returns an
// error; then the channel is closed. The engine's position is of what it has written, so
// a batch that was read and not written is read again by the next process.
func read[T any](ctx context.Context, source Source[T]) <-chan input[T] {
	inputs := make(chan input[T])
	go func() {
		defer close(inputs)
		for {
			batch, err := source.Read(ctx)
			inputs <- input[T]{batch, err}
			if err != nil {
				return
			}
		}
	}()
	return inputs
}
