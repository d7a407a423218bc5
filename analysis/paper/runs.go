package main

import (
	"fmt"
	"strings"

	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
)

// floors are the units whose noise floor stands for that of a section, with
// what the reader knows them by.
var floors = map[string][]struct{ unit, name string }{
	"link":        {{"p50-latency-sec/op", "connect time"}},
	"records":     {{"p50-latency-sec/op", "latency"}},
	"roundtrips":  {{"p50-latency-sec/op", "latency"}},
	"earlydata":   {{"p50-latency-sec/op", "latency"}},
	"keyexchange": {{"server-cpu-sec/op", "server CPU"}},
	"throughput":  {{"cpu-sec/B", "CPU per byte"}, {"B/s", "rate"}},
	"primitives":  {{"B/s", "rate"}},
}

// runTable describes the run of each experiment.
func (p *paper) runTable() (string, error) {
	before := p.current
	defer func() { p.current = before }()
	head := []string{"section", "machine", "rounds", "samples", "share of the time that measured windows fill",
		"windows", "of which lost over " + number.Percent(samples.MarkRatio), "noise floor",
		"headline ratios with an interval within ±" + number.Percent(study.NarrowRatio)}
	var rows [][]string
	for _, name := range sections {
		row, err := p.runRow(name)
		if err != nil {
			return "", err
		}
		rows = append(rows, row)
	}
	return strings.TrimSpace(study.Markdown(head, rows)), nil
}

func (p *paper) runRow(name string) ([]string, error) {
	p.current = p.experiments[name]
	row := []string{name, p.current.main.Name}
	for _, cell := range []struct {
		write func(string) (string, error)
		key   string
	}{
		{p.count, "rounds"}, {p.count, "samples"}, {p.share, "measured-ratio"}, {p.count, "windows"}, {p.count, "marked-windows"},
	} {
		text, err := cell.write(cell.key)
		if err != nil {
			return nil, err
		}
		row = append(row, text)
	}
	var floor []string
	for _, f := range floors[name] {
		text, err := p.floor(f.unit)
		if err != nil {
			return nil, err
		}
		floor = append(floor, text+" ("+f.name+")")
	}
	narrow, all, err := p.narrow()
	return append(row, strings.Join(floor, ", "), fmt.Sprintf("%s of %s", number.Count(narrow), number.Count(all))), err
}

// narrow counts the headline ratios of the experiment in use that have an
// interval, and those of which it is narrow.
func (p *paper) narrow() (narrow, all int, err error) {
	n, _, err := p.get("narrow-headlines")
	if err != nil {
		return 0, 0, err
	}
	a, _, err := p.get("headlines")
	return int(n.Value), int(a.Value), err
}

// wider lists the headline ratios whose interval is wider, by section.
func (p *paper) wider() (string, error) {
	before := p.current
	defer func() { p.current = before }()
	var parts []string
	for _, name := range sections {
		p.current = p.experiments[name]
		narrow, all, err := p.narrow()
		if err != nil {
			return "", err
		}
		if narrow == all {
			continue
		}
		text, err := p.fragment("wide")
		if err != nil {
			return "", fmt.Errorf("%d of %d headline ratios of %s have a wide interval, which its table wide would list: %w", all-narrow, all, name, err)
		}
		parts = append(parts, "*"+name+":*\n\n"+text)
	}
	if parts == nil {
		return "None is wider.", nil
	}
	return strings.Join(parts, "\n\n"), nil
}

// gaps says of which cases the experiment in use has no samples, and why; ""
// if it has all.
func (p *paper) gaps() string {
	m := p.current.main
	counts := map[string]int{}
	var reasons []string
	for _, missing := range m.File.Missing {
		if counts[missing.Reason]++; counts[missing.Reason] == 1 {
			reasons = append(reasons, missing.Reason)
		}
	}
	if reasons == nil {
		return ""
	}
	var parts []string
	for _, reason := range reasons {
		cases := number.Count(counts[reason]) + " cases"
		if counts[reason] == 1 {
			cases = "one case"
		}
		parts = append(parts, cases+": "+reason)
	}
	return fmt.Sprintf("*(Not measured on %s: %s.)*", m.Name, strings.Join(parts, "; "))
}
