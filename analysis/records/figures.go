package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"cryptocost/analysis/internal/chart"
	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
	"cryptocost/data"
)

// ladder draws the records of each kind, with the article's certificate.
func ladder(d *study.Data) (study.Drawing, error) {
	title := "What crosses a connection, record by record"
	if v, ok := d.Values.Get(d.Main.Name, values.Case(data.YesUnit, "/check=tls12-certificate-in-plaintext")); ok && v.Low == 1 {
		title = "Of a TLS 1.3 handshake a listener reads the hellos; of TLS 1.2 the certificate as well"
	}
	l := chart.Ladder{Head: chart.Head{
		Experiment: "records",
		Title:      title,
		Subtitle:   d.Subtitle("ECDSA P-256, self-signed; Go's default client; lengths without the header of 5 bytes, ranges where they vary"),
	}}
	for i, k := range kinds {
		if i%2 == 0 {
			l.Rows = append(l.Rows, nil)
		}
		last := len(l.Rows) - 1
		l.Rows[last] = append(l.Rows[last], connection(d, k))
	}
	return l, nil
}

// connection gives the records of a kind.
func connection(d *study.Data, k kind) chart.Connection {
	name := caseOf(k.tls, k.kind, "yes", selfSigned)
	c := chart.Connection{Name: k.name, Missing: d.Missing(name)}
	records := recordsOf(d.Main, name)
	if c.Missing == "" && len(records) == 0 {
		c.Missing = "its records are not among the samples"
	}
	if c.Missing != "" {
		return c
	}
	c.Note = fmt.Sprintf("%d records in %s flights; client %s, server %s; waits for the server before the request: %s",
		len(records), count(d, flights, name), d.Range(sent, name), d.Range(received, name), count(d, beforeRequest, name))
	hidden := encrypted(d, k.tls, records)
	for i, r := range records {
		length := d.Point(d.Main, recordBytes, r.name)
		c.Records = append(c.Records, chart.Record{FromClient: r.fromClient, Outer: typeName(typeOf(d, r)),
			Low: length.Low, High: length.High, Inner: r.title(), Encrypted: hidden[i]})
	}
	return c
}

// A share is a part of all bytes: messages, or what else there is.
type share struct {
	chart.Series
	messages []string
}

// shares are the parts of bars; what is in none of them, with all headers, is
// in the last.
var shares = []share{
	{chart.Series{Name: "ClientHello", Color: chart.Vermillion}, []string{"clienthello"}},
	{chart.Series{Name: "ServerHello, HelloRetryRequest", Color: chart.Blue}, []string{"serverhello", "helloretryrequest"}},
	{chart.Series{Name: "Certificate", Color: chart.Green}, []string{"certificate"}},
	{chart.Series{Name: "CertificateVerify, KeyExchange", Color: chart.Purple}, []string{"certificateverify", "serverkeyexchange", "clientkeyexchange"}},
	{chart.Series{Name: "all else, and headers", Color: chart.Gray}, nil},
}

// shareOf is the index of the first share that a record has a message of.
func shareOf(r record) int {
	for i, s := range shares {
		if slices.ContainsFunc(s.messages, r.has) {
			return i
		}
	}
	return len(shares) - 1
}

// byMessage divides the bytes of a case, in both directions, among the shares.
func byMessage(m *samples.Machine, t *values.Table, name string) ([]float64, error) {
	list := make([]float64, len(shares))
	for _, r := range recordsOf(m, name) {
		v, ok := t.Get(m.Name, values.Case(recordBytes, r.name))
		if !ok {
			return nil, fmt.Errorf("%s has no %s", r.name, recordBytes)
		}
		list[shareOf(r)] += v.Value
		list[len(list)-1] += headerBytes
	}
	return list, nil
}

// headerBytes are those of a record's header (RFC 8446, 5.1).
const headerBytes = 5

// byteCounts draws the bytes by message: of the kinds with and without hybrids,
// and of the certificates.
func byteCounts(d *study.Data) (study.Drawing, error) {
	bar := func(title, name string) (chart.Bar, error) {
		b := chart.Bar{Name: title, Missing: d.Missing(name)}
		if b.Missing != "" {
			return b, nil
		}
		var err error
		b.Values, err = byMessage(d.Main, d.Values, name)
		if published := d.Published(sent, name) + d.Published(received, name); !math.IsNaN(published) {
			b.Published = published
		}
		return b, err
	}
	var groups []chart.BarGroup
	for _, o := range offers {
		g := chart.BarGroup{Name: o.title}
		for _, k := range kinds {
			b, err := bar(k.name, caseOf(k.tls, k.kind, o.pq, selfSigned))
			if err != nil {
				return nil, err
			}
			g.Bars = append(g.Bars, b)
		}
		groups = append(groups, g)
	}
	g := chart.BarGroup{Name: "RSA, hybrids offered"}
	for _, c := range certificates[1:] {
		b, err := bar("TLS 1.3, full, "+c.short, caseOf(tls13, "full", "yes", c.cert))
		if err != nil {
			return nil, err
		}
		g.Bars = append(g.Bars, b)
	}
	var parts []chart.Series
	for _, s := range shares {
		parts = append(parts, s.Series)
	}
	return chart.Stack{
		Head: chart.Head{
			Experiment: "records",
			Title:      bytesTitle(d),
			Subtitle:   d.Subtitle("both directions, request and response included; medians of each record; hollow diamonds: published; ECDSA P-256, self-signed, but for the last group"),
		},
		Quantity: "bytes per connection", Unit: sent,
		Parts: parts, Groups: append(groups, g),
	}, nil
}

// bytesTitle says how much of all bytes the two hellos with hybrids have.
func bytesTitle(d *study.Data) string {
	v, ok := d.Values.Get(d.Main.Name, sharedByHellos)
	if !ok {
		return "Bytes of a connection, by message"
	}
	return fmt.Sprintf("With hybrids, the two hellos are %s of a full TLS 1.3 handshake's bytes", number.Percent(v.Value))
}

// sharedByHellos is the share that the two hellos have of a connection's bytes.
const sharedByHellos = "share-of-hellos"

// shareOfWatching is what cutting and counting full records adds to the CPU
// time of a transfer of them, as a share of it.
const shareOfWatching = "share-of-watching"

// watching adds it, where both were measured. Its bounds are those of what is
// added.
func watching(m *samples.Machine, t *values.Table) error {
	full := replays[len(replays)-1]
	added, ok1 := t.Get(m.Name, values.Minus(cpuPerRecord, full.name, full.base))
	all, ok2 := t.Get(m.Name, values.Case(cpuPerRecord, unwatched))
	if !ok1 || !ok2 {
		return nil
	}
	return t.Add(values.Value{Key: shareOfWatching, Value: added.Value / all.Value, Low: added.Low / all.Value, High: added.High / all.Value,
		N: added.N, Machine: m.Name})
}

// observations adds it, the share of the hellos in the article's connection,
// and whether the version of the first record is that of TLS 1.0 (RFC 8446,
// 5.1).
func observations(m *samples.Machine, t *values.Table) error {
	if err := watching(m, t); err != nil {
		return err
	}
	records := recordsOf(m, full13)
	if len(records) == 0 {
		return nil
	}
	parts, err := byMessage(m, t, full13)
	if err != nil {
		return err
	}
	is := 0.0
	if v, ok := t.Get(m.Name, values.Case(recordVersion, records[0].name)); ok && v.Low == tls10 && v.High == tls10 {
		is = 1
	}
	return errors.Join(
		t.Add(values.Value{Key: sharedByHellos, Value: (parts[0] + parts[1]) / floats.Sum(parts),
			Low: math.NaN(), High: math.NaN(), N: m.Rounds(), Machine: m.Name}),
		t.Add(values.Value{Key: values.Case(data.YesUnit, "/verdict=first-record-is-0301"), Value: is, Unit: data.YesUnit,
			Low: is, High: is, N: m.Rounds(), Machine: m.Name}))
}

const tls10 = 0x0301
