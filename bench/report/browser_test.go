package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// probe looks at a page from inside and writes what it finds into the page, where --dump-dom
// shows it: whether anything is wider than the screen, whether texts of a picture are cut off or
// lie on each other, whether anything was loaded, and the colours.
const probe = `<script>
addEventListener('load', () => {
	const found = {width: innerWidth, overflow: [], cut: [], overlap: [], loaded: [], pictures: 0, smallest: 1e9, paper: getComputedStyle(document.body).backgroundColor};
	if (document.documentElement.scrollWidth > innerWidth) found.overflow.push('page ' + document.documentElement.scrollWidth);
	for (const d of document.querySelectorAll('details')) d.open = true;
	for (const e of document.querySelectorAll('body *')) {
		const r = e.getBoundingClientRect();
		if (r.width && r.right > innerWidth + 1 && !e.closest('.scroll')) found.overflow.push(e.tagName + ' ' + r.right);
	}
	if (document.documentElement.scrollWidth > innerWidth) found.overflow.push('page with tables ' + document.documentElement.scrollWidth);
	for (const svg of document.querySelectorAll('svg')) {
		const box = svg.getBoundingClientRect();
		if (!box.width) continue;
		found.pictures++;
		const scale = box.width / svg.viewBox.baseVal.width;
		const texts = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
		for (const e of svg.querySelectorAll('text')) found.smallest = Math.min(found.smallest, parseFloat(getComputedStyle(e).fontSize) * scale);
		texts.forEach(([a, r], i) => {
			if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1) found.cut.push(svg.ariaLabel + ': ' + a);
			texts.slice(i + 1).forEach(([b, q]) => {
				const x = Math.min(r.right, q.right) - Math.max(r.left, q.left), y = Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top);
				if (x > 1 && y > 4) found.overlap.push(svg.ariaLabel + ': ' + a + ' / ' + b);
			});
		});
	}
	for (const e of performance.getEntriesByType('resource')) found.loaded.push(e.name);
	const out = document.createElement('pre');
	out.id = 'found';
	out.textContent = JSON.stringify(found);
	(parent === window ? document : parent.document).body.appendChild(out);
});
</script>`

// In a real browser the page has no error, loads nothing, fits phone and desk, and no text of
// a picture is cut off, too small or on another one; in light and in dark.
func TestInABrowser(t *testing.T) {
	chromium := findChromium(t)
	inBrowser(t, chromium, htmlOf(t, reportOf(t, fixture(), other())), 10)
}

// The same holds with lines about the machine, units and names of any length, without a space.
func TestLongWordsInABrowser(t *testing.T) {
	chromium := findChromium(t)
	word := func(letters int) string { return strings.Repeat("flag", letters/4) }
	text := strings.Replace(fixture(), "goos: linux\n", "goos: linux\nrevision: "+word(64)+"\nflags: "+word(500)+"\n"+word(80)+": on\n", 1)
	ratio, other := "x-"+word(300), word(300)+"/op"
	text = strings.Replace(text, "Unit ", "Unit "+ratio+" better=lower\nUnit "+other+" assume=exact\nUnit ", 1)
	lines := ""
	for round := range 6 {
		lines += fmt.Sprintf("BenchmarkLong/name=%s-2 1 1.%d %s 7 %s\n", word(500), round, ratio, other)
		lines += fmt.Sprintf("BenchmarkLong/name=%s/%s-2 1 1e%d %s 1e-30 x-far\n", word(64), word(64), round, ratio)
	}
	r := reportOf(t, text+"Unit x-far better=lower\n"+lines, strings.ReplaceAll(text+lines, " 1.", " 3."))
	r.Change.Base = word(500) + ".txt"
	inBrowser(t, chromium, htmlOf(t, r), 12)
}

// The same holds with watches: a few, and as many as have a line and more, with names of any
// length and latencies that have nothing in common.
func TestWatchesInABrowser(t *testing.T) {
	chromium := findChromium(t)
	inBrowser(t, chromium, htmlOf(t, reportOf(t, fixture(), "", watches(t)...)), 10)
	random := rand.New(rand.NewPCG(3, 0))
	var many []Watched
	for n := range watchedDrawn + 2 {
		w := watchedOf(t, resultOf(t, uint64(n), true, n%3 == 0), fmt.Sprintf("%d-%s", n, strings.Repeat("long", 1+random.IntN(80))))
		for p := range w.Percentiles {
			w.Percentiles[p] *= int64(math.Pow(10, float64(n%6)))
		}
		many = append(many, w)
	}
	inBrowser(t, chromium, htmlOf(t, reportOf(t, fixture(), "", many...)), 10)
}

// inBrowser looks at a page with so many pictures.
func inBrowser(t *testing.T, chromium, page string, pictures int) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file://" + file
	}
	// The page's own policy forbids scripts, the probe too.
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	if !policy.MatchString(page) {
		t.Error("the page has no policy against scripts and network")
	}
	probed := strings.Replace(policy.ReplaceAllString(page, ""), "</body>", probe+"</body>", 1)
	whole := write("whole.html", page)
	desk := write("desk.html", probed)
	// A window cannot be as narrow as a phone, a frame in one can.
	phone := write("phone.html", `<!DOCTYPE html><body style="margin:0"><iframe style="border:0;width:360px;height:900px" srcdoc="`+html.EscapeString(probed)+`"></iframe></body>`)

	t.Run("as it is", func(t *testing.T) {
		dom, log := chromiumDump(t, chromium, whole, 1280, false)
		if bad := regexp.MustCompile(`(?m)^.*CONSOLE.*$`).FindString(log); bad != "" {
			t.Errorf("the console says %s", bad)
		}
		if strings.Count(dom, "<svg") != strings.Count(page, "<svg") || strings.Count(dom, "<td") != strings.Count(page, "<td") {
			t.Error("the browser sees other pictures or tables than were written")
		}
	})
	paper := map[bool]string{false: "rgb(255, 255, 255)", true: "rgb(20, 24, 29)"}
	for _, screen := range []struct {
		url   string
		width int
	}{{desk, 1280}, {phone, 360}} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprintf("width=%d/dark=%v", screen.width, dark), func(t *testing.T) {
				dom, log := chromiumDump(t, chromium, screen.url, max(screen.width, 500), dark)
				m := regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`).FindStringSubmatch(dom)
				if m == nil {
					t.Fatalf("the probe has found nothing:\n%s", log)
				}
				var found struct {
					Width, Pictures                int
					Overflow, Cut, Overlap, Loaded []string
					Smallest                       float64
					Paper                          string
				}
				if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &found); err != nil {
					t.Fatal(err)
				}
				for what, list := range map[string][]string{"wider than the screen": found.Overflow, "cut off": found.Cut, "on each other": found.Overlap, "loaded": found.Loaded} {
					if len(list) > 0 {
						t.Errorf("%s: %q", what, list)
					}
				}
				if found.Width != screen.width || found.Pictures != pictures || found.Smallest < 11 || found.Paper != paper[dark] {
					t.Errorf("width %d, %d pictures, smallest text %v px, paper %s", found.Width, found.Pictures, found.Smallest, found.Paper)
				}
				if bad := regexp.MustCompile(`(?m)^.*CONSOLE.*$`).FindString(log); bad != "" {
					t.Errorf("the console says %s", bad)
				}
			})
		}
	}
}

// findChromium skips the test where there is no browser, unless that is asked for.
func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "no chromium here: apt-get install chromium"
	if os.Getenv("SINKLAB_CHROMIUM") == "required" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// chromiumDump renders a page and returns the document and what the browser logged.
func chromiumDump(t *testing.T, chromium, url string, width int, dark bool) (dom, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a browser that hangs fails the test
	defer cancel()
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir(),
		fmt.Sprintf("--window-size=%d,900", width), "--dump-dom",
	}
	if dark {
		args = append(args, "--blink-settings=preferredColorScheme=0")
	}
	command := exec.CommandContext(ctx, chromium, append(args, url)...)
	command.WaitDelay = time.Second
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String(), errs.String()
}
