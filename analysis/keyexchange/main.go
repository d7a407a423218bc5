// Keyexchange computes, from data/*/keyexchange.txt, what a handshake costs
// by key exchange, certificate and version, and draws the figures and tables
// of the paper's section keyexchange.
//
//	go run ./analysis/keyexchange [-machine NAME]
//
// It writes figures/keyexchange.values, figures/keyexchange-*.svg and
// figures/keyexchange-*.md.
package main

import (
	"math"
	"slices"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
	"cryptocost/analysis/internal/values"
)

const (
	serverCPU = "server-cpu-sec/op"
	clientCPU = "client-cpu-sec/op"
	latency   = "p50-latency-sec/op"
	sent      = "sent-B/op"
	received  = "received-B/op"
	after     = "after-B/op"

	baseline = "/kex=x25519/cert=ecdsa-p256/tls=1.3"
	whole    = baseline + "/window=whole"
	hybrid   = "/kex=x25519mlkem768/cert=ecdsa-p256/tls=1.3"
	rsaKex   = "/kex=rsa/cert=rsa-2048/tls=1.2"
)

// Rows of figures and tables, in the order of the whole paper.
var (
	kexRows = []study.Row{
		{Name: "X25519", Case: baseline},
		{Name: "P-256", Case: "/kex=p256/cert=ecdsa-p256/tls=1.3"},
		{Name: "P-384", Case: "/kex=p384/cert=ecdsa-p256/tls=1.3"},
		{Name: "P-521", Case: "/kex=p521/cert=ecdsa-p256/tls=1.3"},
		{Name: "X25519MLKEM768 (Go's default)", Case: hybrid},
		{Name: "SecP256r1MLKEM768", Case: "/kex=secp256r1mlkem768/cert=ecdsa-p256/tls=1.3"},
		{Name: "SecP384r1MLKEM1024", Case: "/kex=secp384r1mlkem1024/cert=ecdsa-p256/tls=1.3"},
	}
	certRows = []study.Row{
		{Name: "ECDSA P-256", Case: baseline},
		{Name: "ECDSA P-384", Case: "/kex=x25519/cert=ecdsa-p384/tls=1.3"},
		{Name: "Ed25519", Case: "/kex=x25519/cert=ed25519/tls=1.3"},
		{Name: "RSA-2048", Case: "/kex=x25519/cert=rsa-2048/tls=1.3"},
		{Name: "RSA-3072", Case: "/kex=x25519/cert=rsa-3072/tls=1.3"},
		{Name: "RSA-4096", Case: "/kex=x25519/cert=rsa-4096/tls=1.3"},
	}
	versionRows = []study.Row{
		{Name: "TLS 1.3, X25519, ECDSA P-256", Case: baseline},
		{Name: "TLS 1.2, X25519, ECDSA P-256", Case: "/kex=x25519/cert=ecdsa-p256/tls=1.2"},
		{Name: "TLS 1.3, X25519, RSA-2048", Case: "/kex=x25519/cert=rsa-2048/tls=1.3"},
		{Name: "TLS 1.2, X25519, RSA-2048", Case: "/kex=x25519/cert=rsa-2048/tls=1.2"},
		{Name: "TLS 1.2, RSA key exchange", Case: rsaKex},
	}
	ticketRow = study.Row{Name: "X25519, client asks for tickets", Case: baseline + "/tickets=asked"}
)

// retries are the handshakes with HelloRetryRequest, each beside its control.
// The first control negotiates the same group from the right share, so that
// only the retry differs. The others have the same client, with a server that
// takes a share of its first ClientHello, and so another group.
var retries = []struct {
	name, retry          string
	controlName, control string
}{
	{"X25519 offered first, server wants P-256", "/kex=p256/cert=ecdsa-p256/tls=1.3/offer=x25519+p256/hrr=yes",
		"P-256 offered first, server takes it", "/kex=p256/cert=ecdsa-p256/tls=1.3"},
	{"Go's default client, server wants P-256", "/kex=p256/cert=ecdsa-p256/tls=1.3/offer=default/hrr=yes",
		"Go's default client, server takes X25519", baseline + "/offer=default"},
	{"X25519 not among the shares, server wants it", baseline + "/offer=x25519-last/hrr=yes",
		"X25519 not among the shares, server takes P-256", "/kex=p256/cert=ecdsa-p256/tls=1.3/offer=x25519-last"},
}

// retryRows alternates the retried handshakes and their controls.
func retryRows() []study.Row {
	var rows []study.Row
	for _, r := range retries {
		rows = append(rows, study.Row{Name: r.name, Case: r.retry}, study.Row{Name: r.controlName, Case: r.control})
	}
	return rows
}

// pairs are the comparisons beside those with the baseline.
func pairs() []study.Pair {
	var list []study.Pair
	for _, unit := range []string{serverCPU, clientCPU, latency, sent, received} {
		for _, r := range retries {
			list = append(list, study.Pair{Unit: unit, Case: r.retry, Base: r.control})
		}
		list = append(list,
			study.Pair{Unit: unit, Case: rsaKex, Base: "/kex=x25519/cert=rsa-2048/tls=1.3"},
			study.Pair{Unit: unit, Case: rsaKex, Base: "/kex=x25519/cert=rsa-2048/tls=1.2"},
			study.Pair{Unit: unit, Case: "/kex=x25519/cert=rsa-2048/tls=1.2", Base: "/kex=x25519/cert=rsa-2048/tls=1.3"},
			study.Pair{Unit: unit, Case: "/kex=x25519/cert=ed25519/tls=1.3", Base: baseline},
			study.Pair{Unit: unit, Case: hybrid, Base: baseline})
	}
	for _, name := range []string{hybrid, "/kex=x25519/cert=rsa-2048/tls=1.3"} {
		list = append(list, study.Pair{Unit: received, Case: name, Base: baseline}, study.Pair{Unit: sent, Case: name, Base: baseline})
	}
	return list
}

// headlines are the ratios of CPU to the baseline that the section speaks of.
func headlines(*study.Data) []study.Pair {
	var list []study.Pair
	for _, rows := range [][]study.Row{kexRows, certRows, versionRows} {
		for _, r := range rows {
			if r.Case == baseline {
				continue
			}
			for _, unit := range []string{serverCPU, clientCPU} {
				list = append(list, study.Pair{Unit: unit, Case: r.Case, Base: baseline})
			}
		}
	}
	return list
}

// spreads compares how the ratio of the A/A twins spreads over the rounds
// when they take turns in slices and when each has one whole window.
func spreads(m *samples.Machine, t *values.Table) error {
	slicedA, slicedB := m.Rounded(baseline, serverCPU), m.Rounded(baseline+samples.TwinSuffix, serverCPU)
	wholeA, wholeB := m.Rounded(whole, serverCPU), m.Rounded(whole+samples.TwinSuffix, serverCPU)
	if slicedA == nil || slicedB == nil || wholeA == nil || wholeB == nil || m.Rounds() < 2 {
		return nil
	}
	inSlices, inWindows := stat.Spread(slicedB, slicedA), stat.Spread(wholeB, wholeA)
	usualSlices, usualWindows := usualDistance(slicedB, slicedA), usualDistance(wholeB, wholeA)
	for _, v := range []values.Value{
		{Key: "spread in slices", Value: inSlices},
		{Key: "spread in whole windows", Value: inWindows},
		{Key: "spread in slices over spread in whole windows", Value: inSlices / inWindows},
		{Key: "usual distance in slices", Value: usualSlices},
		{Key: "usual distance in whole windows", Value: usualWindows},
	} {
		v.Low, v.High, v.N, v.Machine = nan, nan, m.Rounds(), m.Name
		if err := t.Add(v); err != nil {
			return err
		}
	}
	return nil
}

// usualDistance is the median over rounds of how far a ratio is from 1: the
// distance that half of the rounds do not exceed, as the figure draws it.
func usualDistance(a, b []float64) float64 {
	distances := make([]float64, len(a))
	for i := range a {
		distances[i] = math.Abs(a[i]/b[i] - 1)
	}
	slices.Sort(distances)
	return distances[(len(distances)-1)/2]
}

func main() {
	study.Main(study.Analysis{
		Name:      "keyexchange",
		Baseline:  baseline,
		Units:     []string{serverCPU, clientCPU, latency, "p90-latency-sec/op", "p99-latency-sec/op"},
		Observed:  []string{sent, received, after, "clienthello-B/op", "key-share-B/op"},
		Pairs:     pairs(),
		Headlines: headlines,
		Extra:     spreads,
		Figures: map[string]func(*study.Data) (study.Drawing, error){
			"kex": kex, "cert": cert, "bytes": byteCounts, "latency": latencies, "retry": retry, "slices": slicing,
		},
		Tables: map[string]func(*study.Data) (string, error){
			"server": serverTable, "client": clientTable, "latencies": latencyTable, "sizes": sizesTable,
			"retries": retryTable, "checks": checkTable, "wide": (*study.Data).Wide,
		},
	})
}
