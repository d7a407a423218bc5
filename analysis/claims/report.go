package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cryptocost/analysis/internal/claim"
)

// report writes claims.md.
func report(rows []row, tables claim.Tables, machine string) []byte {
	var b bytes.Buffer
	experiments := slices.Sorted(maps.Keys(tables))
	fmt.Fprintf(&b, "<!-- Made by analysis/claims from analysis/claims/claims.csv and the values of %s on %s; don't edit. -->\n",
		strings.Join(experiments, ", "), machine)
	fmt.Fprintf(&b, "# What became of the %d published claims\n\n", len(rows))
	fmt.Fprintf(&b, "Measured on %s. Numbers in brackets are 95 %% intervals; published ones are as published.\n\n", machine)
	b.WriteString("## How a verdict is reached\n\n" + claim.Rules() + "\n## Counts\n\n")
	writeCounts(&b, rows)
	for _, group := range groups(rows) {
		fmt.Fprintf(&b, "\n## %s, %s\n\n", group[0].Article, group[0].Experiment)
		b.WriteString("| claim | statement | published | measured | verdict | why |\n|---|---|---|---|---|---|\n")
		for _, r := range group {
			writeRow(&b, r.ID, r.Statement, published(r.Claim), r.Measured, string(r.Word), r.Why)
		}
	}
	return b.Bytes()
}

// summary counts the verdicts in one line.
func summary(rows []row) string {
	counts := map[claim.Word]int{}
	for _, r := range rows {
		counts[r.Word]++
	}
	var parts []string
	for _, w := range claim.Words {
		if counts[w] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[w], w))
		}
	}
	return fmt.Sprintf("%d claims: %s", len(rows), strings.Join(parts, ", "))
}

// writeCounts counts the verdicts of every article.
func writeCounts(b *bytes.Buffer, rows []row) {
	const all = "all"
	counts := map[string]map[claim.Word]int{all: {}}
	var articles []string
	for _, r := range rows {
		if counts[r.Article] == nil {
			counts[r.Article] = map[claim.Word]int{}
			articles = append(articles, r.Article)
		}
		counts[r.Article][r.Word]++
		counts[all][r.Word]++
	}
	header := []string{"article"}
	for _, w := range claim.Words {
		header = append(header, string(w))
	}
	writeRow(b, append(header, "claims")...)
	b.WriteString("|---" + strings.Repeat("|---:", len(header)) + "|\n")
	for _, article := range append(articles, all) {
		cells := []string{article}
		sum := 0
		for _, w := range claim.Words {
			cells = append(cells, fmt.Sprint(counts[article][w]))
			sum += counts[article][w]
		}
		writeRow(b, append(cells, fmt.Sprint(sum))...)
	}
}

// groups are the rows of each article and experiment, in the order in which
// they first come.
func groups(rows []row) [][]row {
	type key struct{ article, experiment string }
	index := map[key]int{}
	var list [][]row
	for _, r := range rows {
		k := key{r.Article, r.Experiment}
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], r)
	}
	return list
}

// published is a claim's value in the article's own digits and unit.
func published(c claim.Claim) string {
	unit := c.Unit
	switch {
	case unit == "us":
		unit = "µs"
	case unit == "x":
		return c.Value + "×"
	}
	return strings.TrimSpace(c.Value + " " + unit)
}

// markdown escapes what GitHub Flavored Markdown would take for markup in a
// table's cell.
var markdown = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "\n", " ")

func writeRow(b *bytes.Buffer, cells ...string) {
	for _, c := range cells {
		if c == "" {
			c = "—"
		}
		b.WriteString("| " + markdown.Replace(c) + " ")
	}
	b.WriteString("|\n")
}
