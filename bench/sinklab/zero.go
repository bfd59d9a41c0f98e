package main

import (
	"fmt"
	"reflect"

	"github.com/alecthomas/kong"

	"sinklab/bench/config"
)

// refuseZeros refuses a 0 that is given to a flag for which 0 stands for its default. Such flags
// have the tag least, which says what is wanted in its place.
func refuseZeros(command *kong.Context) error {
	for _, p := range command.Path {
		if p.Flag == nil || !p.Flag.Target.IsValid() || !p.Flag.Target.IsZero() {
			continue
		}
		if least := p.Flag.Tag.Get("least"); least != "" {
			return fmt.Errorf("--%s %v: want %s, or leave it out", p.Flag.Name, p.Flag.Target.Interface(), least)
		}
	}
	return nil
}

// durations reads the times of flags with type:"time" as those of config.Duration are, so that it
// is said what was meant by a unit that is none.
func durations() kong.Option {
	return kong.NamedMapper("time", kong.MapperFunc(func(c *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := c.Scan.PopValueInto("time", &text); err != nil {
			return err
		}
		d, err := config.ParseDuration(text)
		target.SetInt(int64(d))
		return err
	}))
}
