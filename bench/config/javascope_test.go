package config

import (
	"strings"
	"testing"
	"time"
)

// check reads the check intervals of the sinks of a Java source; 0 stands for unread.
func check(t *testing.T, text string) (all []time.Duration) {
	t.Helper()
	f, err := Read(FlinkJava, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, s := range f.Sinks {
		if len(s.Unread) > 0 && s.Peer != nil {
			t.Errorf("%s: there is a peer, though a value is unread", text)
		}
		all = append(all, s.Check)
	}
	return all
}

// An expression is read whole or not at all, also that of a variable.
func TestReadJavaWholeExpressions(t *testing.T) {
	const sink = " FileSink.forRowFormat(p, e).withBucketCheckInterval("
	for value, want := range map[string]time.Duration{
		"130000 % 60000":                        10 * time.Second,
		"(1L << 40) >> 20":                      1 << 20 * time.Millisecond,
		"1 + 1 << 10":                           2048 * time.Millisecond,
		"Duration.ofMinutes(1).plusSeconds(30)": 0,
		"fast ? 1000 : 60000":                   0,
		"(fast ? 1000 : 60000)":                 0,
		"Duration.ofSeconds(5 & 3)":             0,
		"5 | 1":                                 0,
		"5 == 6":                                0,
		"-1 >> 2":                               0,
		"1 % 0":                                 0,
		"10 seconds":                            0,
		"conf.limit":                            0,
		"Duration.ofMinutes(1).toMillis()":      time.Minute,
		"Duration.ofMinutes(1).toMillis() .hashCode() ":  0,
		"Duration.ofMinutes(1).toMillis() * 2":           2 * time.Minute,
		"60000 >>> 1":                                    0,
		"TimeUnit.SECONDS.toMillis(90) / (1000 % 7) * 3": 45 * time.Second, // 90000 / 6 * 3
	} {
		if got := check(t, sink+value+").build();"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
		if got := check(t, "var limit = "+value+";"+sink+"limit).build();"); len(got) != 1 || got[0] != want {
			t.Errorf("variable of %s: %v, want %v", value, got, want)
		}
	}
	f, err := Read(FlinkJava, "FileSink.forRowFormat(p, e).withRollingPolicy(big ? DefaultRollingPolicy.builder().build() : OnCheckpointRollingPolicy.build()).build();")
	if err != nil || len(f.Sinks[0].Unread) != 1 {
		t.Errorf("one of two policies: %+v, %v", f, err)
	}
}

// A name is what is declared in the innermost block around it, and a field last.
func TestReadJavaScopes(t *testing.T) {
	const sink = "FileSink.forRowFormat(p, e).withBucketCheckInterval(check).build();"
	const s = time.Second
	for _, c := range []struct {
		name, text string
		want       []time.Duration
	}{
		{"two methods", "class J { void a() { long check = 9000; " + sink + " } void b() { long check = 60000; " + sink + " } }", []time.Duration{9 * s, 60 * s}},
		{"a field, hidden in one method", "class J { void a() { long check = 9000; " + sink + " } void b() { " + sink + " } static final long check = 60000; }", []time.Duration{9 * s, 60 * s}},
		{"this", "class J { long check = 60000; void a() { long check = 9000; " + strings.Replace(sink, "(check)", "(this.check)", 1) + " } }", []time.Duration{60 * s}},
		{"another class", "class J { long check = 60000; void a() { " + strings.Replace(sink, "(check)", "(K.check)", 1) + " } } class K { static long check = 9000; }", []time.Duration{9 * s}},
		{"a field of a value", "class J { long check = 60000; void a(J other) { " + strings.Replace(sink, "(check)", "(other.check)", 1) + " } }", []time.Duration{0}},
		{"an inner block", "void a() { if (x) { long check = 9000; } " + sink + " }", []time.Duration{0}},
		{"around an inner block", "void a() { long check = 9000; if (x) { " + sink + " } }", []time.Duration{9 * s}},
		{"a parameter", "class J { long check = 60000; void a(Path p, final long check) { " + sink + " } }", []time.Duration{0}},
		{"a parameter in Kotlin", "class J { val check = 60000\n fun a(check: Long) { " + sink + " } }", []time.Duration{0}},
		{"a parameter of a lambda", "class J { long check = 60000; void a() { f(check -> { " + sink + " }); } }", []time.Duration{0}},
		{"a condition is no parameter", "void a() { long check = 9000; if (y < check) { " + sink + " } }", []time.Duration{9 * s}},
		{"set twice", "void a() { long check = 9000; if (x) check = 60000; " + sink + " }", []time.Duration{0}},
		{"changed", "void a() { long check = 9000; check *= 2; " + sink + " }", []time.Duration{0}},
		{"counted", "void a() { long check = 9000; check++; " + sink + " }", []time.Duration{0}},
		{"set in another method", "class J { long check; J() { check = 9000; } void a() { " + sink + " } }", []time.Duration{9 * s}},
		{"the same name set in another method", "class J { void b() { long check = 1; check = 2; } void a() { long check = 9000; " + sink + " } }", []time.Duration{9 * s}},
		{"a local variable further down", "class J { void a() { " + sink + " long check = 9000; } long check = 60000; }", []time.Duration{60 * s}},
		{"compared", "void a() { long check = 9000; boolean b = check == 7 || check >= 8 || 5 > check; " + sink + " }", []time.Duration{9 * s}},
		{"Scala", "object J {\n val check: Long = 9000\n def a() = {\n " + sink + " }\n}", []time.Duration{9 * s}},
		{"Kotlin's companion", "class J {\n companion object {\n const val check = 9000\n val other = 5\n }\n fun a() {\n " + sink + " }\n}", []time.Duration{9 * s}},
		{"two builders", "void a() { var b = FileSink.forRowFormat(p, e); b.withBucketCheckInterval(9000); x = b.build(); } void b() { var b = FileSink.forRowFormat(p, e); b.withBucketCheckInterval(60000); x = b.build(); }", []time.Duration{9 * s, 60 * s}},
		{"a builder that is a field", "class J { Builder b; J() { b = FileSink.forRowFormat(p, e); this.b.withBucketCheckInterval(9000); } }", []time.Duration{9 * s}},
		{"a builder that is set twice", "class J { Builder b; J() { b = FileSink.forRowFormat(p, e); b.withBucketCheckInterval(9000); b = FileSink.forRowFormat(p, e); } }", []time.Duration{0, 0}},
		{"a sink that is set twice", "FileSink<X> k; if (x) k = FileSink.forRowFormat(p, e).withBucketCheckInterval(9000).build(); else k = FileSink.forRowFormat(p, e).withBucketCheckInterval(60000).build();", []time.Duration{9 * s, 60 * s}},
	} {
		got := check(t, c.text)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// A policy is that of the innermost block too.
func TestReadJavaScopesOfPolicies(t *testing.T) {
	const method = "{ var policy = DefaultRollingPolicy.builder(); policy.withRolloverInterval(X); s = FileSink.forRowFormat(p, e).withRollingPolicy(policy.build()).build(); }"
	f, err := Read(FlinkJava, "class J { void a() "+strings.Replace(method, "X", "9000", 1)+" void b() "+strings.Replace(method, "X", "60000", 1)+" }")
	if err != nil || len(f.Sinks) != 2 || len(f.Sinks[0].Options) != 1 || f.Sinks[0].Options[0].Value != "9000" || len(f.Sinks[1].Options) != 1 || f.Sinks[1].Options[0].Value != "60000" {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = Read(FlinkJava, "class J { void a() { s = FileSink.forRowFormat(p, e).withRollingPolicy(Policies.QUICK).build(); } }\nclass Policies { static final RollingPolicy QUICK = DefaultRollingPolicy.builder().withRolloverInterval(9000).build(); }")
	if err != nil || len(f.Sinks) != 1 || len(f.Sinks[0].Options) != 1 || f.Sinks[0].Options[0].Value != "9000" {
		t.Errorf("%+v, %v", f, err)
	}
}
