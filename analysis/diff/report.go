package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// lineWidth is how wide plain text gets, in characters.
const lineWidth = 100

// A report is what the program prints, block by block.
type report []block

// A block is a heading, paragraphs and a table; each may be missing.
type block struct {
	heading    string
	paragraphs []string
	table      table
}

// A table has rows in groups. In plain text the name of a group stands on a
// line of its own, because names of cases are longer than any column.
type table struct {
	group   string // what the groups are
	columns []string
	rows    []row
}

// A row without cells is only its group.
type row struct {
	group string
	cells []string
}

// add appends a row.
func (t *table) add(group string, cells ...string) {
	t.rows = append(t.rows, row{group, cells})
}

// write prints the report as plain text or as Markdown.
func (r report) write(w io.Writer, markdown bool) error {
	var parts []string
	for _, b := range r {
		if markdown {
			parts = append(parts, b.markdown()...)
		} else {
			parts = append(parts, b.text())
		}
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n")
	return err
}

// text gives the block as lines of at most lineWidth, if words allow.
func (b block) text() string {
	var lines []string
	if b.heading != "" {
		lines = append(lines, b.heading)
	}
	for _, p := range b.paragraphs {
		lines = append(lines, wrap(p, "", "  ")...)
	}
	return strings.Join(append(lines, b.table.text()...), "\n")
}

func (t table) text() []string {
	if len(t.rows) == 0 {
		return nil
	}
	widths := make([]int, len(t.columns))
	for _, cells := range append([][]string{t.columns}, t.cells()...) {
		for i, c := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var lines []string
	if strings.Join(t.columns, "") != "" {
		lines = append(lines, line(t.columns, widths)...)
	}
	group := ""
	for _, r := range t.rows {
		if r.group != group {
			group = r.group
			lines = append(lines, wrap(group, "", "    ")...)
		}
		if len(r.cells) > 0 {
			lines = append(lines, line(r.cells, widths)...)
		}
	}
	return lines
}

func (t table) cells() [][]string {
	var cells [][]string
	for _, r := range t.rows {
		cells = append(cells, r.cells)
	}
	return cells
}

// line aligns cells in columns; the last one is wrapped below itself.
func line(cells []string, widths []int) []string {
	const gap = "  "
	start := ""
	for i, c := range cells[:len(cells)-1] {
		start += gap + c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
	}
	start += gap
	return wrap(cells[len(cells)-1], start, strings.Repeat(" ", utf8.RuneCountInString(start)))
}

// wrap breaks text between words. The first line begins with first, the others
// with rest.
func wrap(text, first, rest string) []string {
	var lines []string
	current := first
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			current += word
		case utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > lineWidth:
			lines = append(lines, strings.TrimRight(current, " "))
			current = rest + word
		default:
			current += " " + word
		}
	}
	return append(lines, strings.TrimRight(current, " "))
}

// markdown gives the parts of the block.
func (b block) markdown() []string {
	var parts []string
	if b.heading != "" {
		parts = append(parts, "## "+b.heading)
	}
	for _, p := range b.paragraphs {
		parts = append(parts, escape(p))
	}
	if len(b.table.rows) > 0 {
		parts = append(parts, b.table.markdown())
	}
	return parts
}

// markdown gives the table with the group as its first column.
func (t table) markdown() string {
	grouped := slices.ContainsFunc(t.rows, func(r row) bool { return r.group != "" })
	format := func(group string, cells []string) string {
		if grouped {
			cells = append([]string{group}, cells...)
		}
		var b strings.Builder
		for _, c := range cells {
			fmt.Fprintf(&b, "| %s ", escape(c))
		}
		return b.String() + "|"
	}
	lines := []string{format(t.group, t.columns), format("---", slices.Repeat([]string{"---"}, len(t.columns)))}
	for _, r := range t.rows {
		cells := make([]string, len(t.columns))
		copy(cells, r.cells)
		lines = append(lines, format(r.group, cells))
	}
	return strings.Join(lines, "\n")
}

// escape keeps text from being read as Markdown.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;").Replace(text)
}
