package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestDoc runs the commands of the documentation of main.go and compares what
// they print with what stands there.
func TestDoc(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	recording{seed: 1}.write(t, "data/before")
	recording{seed: 2, weather: 1.04, cost: map[string]float64{p521: 1.2}, config: map[string]string{"kernel-release": "6.18.2"}}.write(t, "data/laptop")
	const prompt = "$ go run ./analysis/diff "
	commands := 0
	for _, block := range codeBlocks(string(source)) {
		command, want, _ := strings.Cut(block, "\n")
		args, ok := strings.CutPrefix(command, prompt)
		if !ok {
			continue
		}
		commands++
		var stdout, stderr bytes.Buffer
		status(strings.Fields(args), &stdout, &stderr)
		if got := stdout.String() + stderr.String(); got != want {
			t.Errorf("%s prints\n%s\nbut the documentation has\n%s", command, comment(got), want)
		}
	}
	if commands == 0 {
		t.Errorf("main.go documents no command that begins with %q", prompt)
	}
}

// codeBlocks gives the indented blocks of the comment that opens a file.
func codeBlocks(source string) []string {
	var blocks []string
	current, blank := "", ""
	for line := range strings.Lines(source) {
		text, ok := strings.CutPrefix(line, "//")
		switch code, indented := strings.CutPrefix(text, "\t"); {
		case indented:
			current, blank = current+blank+code, ""
		case ok && text == "\n" && current != "":
			blank += text
		default:
			if current != "" {
				blocks = append(blocks, current)
			}
			current, blank = "", ""
		}
		if !ok {
			break
		}
	}
	return blocks
}

// comment is a text as it stands in the documentation.
func comment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("//\t"+line, "\t\n") + "\n")
	}
	return b.String()
}
