package report

import (
	"fmt"
	"io"
	"strings"
)

// WritePicture writes the first picture, records written against records visible, as an
// SVG file of its own, light and dark, for a README.
func (r *Report) WritePicture(w io.Writer) error {
	// The colours come first in the style sheet of the page, up to the rules for everything.
	colours, _, _ := strings.Cut(style, "* {")
	text := string(r.Written.picture(r.Article).svg(wide))
	text = strings.Replace(text, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1)
	rules := colours + `svg { background: var(--paper); font-family: "Liberation Sans", Arimo, Arial, Helvetica, sans-serif; }
text { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
`
	text = strings.Replace(text, "<title>", "<style>\n"+rules+"</style><title>", 1)
	_, err := fmt.Fprintln(w, text)
	return err
}
