package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sinklab/sinkcore/peers"
)

// ReadTOML reads a text into a struct whose fields have toml tags; into is a pointer to it. A
// key that the struct does not have is refused, and the nearest one named. The error is a
// [*ReadError].
func ReadTOML(text string, into any) error {
	decoder := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields()
	err := decoder.Decode(into)
	var missing *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &missing) && len(missing.Errors) > 0:
		wrong := missing.Errors[0]
		line, _ := wrong.Position()
		key := strings.Join(wrong.Key(), ".")
		problem := fmt.Sprintf("%s is no key that is known", key)
		if near := peers.Nearest(key, tomlKeys(into)); near != "" {
			problem += "; did you mean " + near + "?"
		} else {
			problem += ": want " + strings.Join(tomlKeys(into), ", ")
		}
		return &ReadError{line, problem}
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		problem := strings.TrimPrefix(wrong.Error(), "toml: ")
		if from, to, ok := strings.Cut(problem, " into struct field"); ok {
			// What follows is Go's type, which is nobody's business.
			problem = fmt.Sprintf("%s: want %s and no %s", strings.Join(wrong.Key(), "."), kindOf(to), strings.TrimPrefix(from, "cannot decode TOML "))
		}
		return &ReadError{line, problem}
	case err != nil:
		return &ReadError{1, err.Error()}
	}
	return wholeMillis(text, into)
}

// kindOf says in one word what a message of the decoder wants.
func kindOf(message string) string {
	for _, k := range []struct{ end, word string }{{"int", "a whole number"}, {"float64", "a number"}, {"string", "a string"}, {"bool", "true or false"}} {
		if strings.HasSuffix(message, "of type "+k.end) {
			return k.word
		}
	}
	return `a string such as "90s" or "64KiB"`
}

// tomlKeys lists the keys of a struct and of those in it.
func tomlKeys(into any) (keys []string) {
	tomlFields(reflect.ValueOf(into).Elem(), func(key string, _ reflect.Value) { keys = append(keys, key) })
	return keys
}

// tomlFields visits the fields that have keys.
func tomlFields(v reflect.Value, visit func(key string, field reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			tomlFields(v.Field(i), visit)
		} else if key, _, _ := strings.Cut(field.Tag.Get("toml"), ","); key != "" && key != "-" {
			visit(key, v.Field(i))
		}
	}
}

// wholeMillis refuses a time that is a plain number, which has no unit.
func wholeMillis(text string, into any) (err error) {
	tomlFields(reflect.ValueOf(into).Elem(), func(key string, field reflect.Value) {
		if d, ok := field.Interface().(Duration); !ok || d == 0 || err != nil {
			return
		}
		for n, line := range strings.Split(text, "\n") {
			name, value, _ := strings.Cut(line, "=")
			value, _, _ = strings.Cut(value, "#")
			if value = strings.TrimSpace(value); strings.Trim(strings.TrimSpace(name), `"`) == key && value != "" && isDigit(value[0]) {
				err = &ReadError{n + 1, fmt.Sprintf("%s = %s has no unit: want %s = \"%ss\"", key, value, key, value)}
				return
			}
		}
	})
	return err
}
