// Diff compares two runs of the experiments, on two machines or on one: what
// differs between the machines, and which differences between the samples are
// real.
//
//	go run ./analysis/diff [-all] [-markdown] data/ONE data/OTHER
//
// or make diff A=data/ONE B=data/OTHER. It prints
//
//   - what both runs are, how the recorded environments differ, the most
//     important first, and how the settings do;
//   - what can't be compared, and why: experiments, cases or quantities that
//     only one of them has, another schema, a damaged file, under 6 rounds;
//   - for each experiment that both have: what disturbed the runs, the noise
//     floor, and what differs; with -all, everything that was compared;
//   - a summary.
//
// # Example
//
// A laptop was measured, got a new kernel, and was measured again; the samples
// of the first run were moved to data/before:
//
//	$ go run ./analysis/diff data/before data/laptop
//	  experiment   profile   rounds  cases  revision
//	A data/before: machine laptop, Example Processor 3000, 8 threads, linux/amd64, go1.26.8
//	  keyexchange  standard  12      all    0123456789ab
//	B data/laptop: machine laptop, Example Processor 3000, 8 threads, linux/amd64, go1.26.8
//	  keyexchange  standard  12      all    0123456789ab
//
//	Environment
//	kernel-release
//	  A  6.12.1
//	  B  6.18.2
//
//	Settings: the runs had the same settings
//
//	How differences are judged
//	Same kind of hardware (keyexchange): the runs may differ by the machine's hour alone. A difference
//	  is claimed only where both the cost and the cost over the baseline, in which what all cases share
//	  cancels, lie beyond the noise floor: the most that the twins (the baseline under two names) seem
//	  to differ by in either run, or the calibration loop from one run to the other.
//	Values are medians over rounds, ± as far as their 95 % interval reaches. p is corrected for the
//	  table of the experiment (Holm); a claim needs p < 0.05. "none > 5 %": no difference, and more than
//	  5 % is ruled out, noise floor included.
//
//	keyexchange
//	  noise                         A               B               B/A
//	  run spent in windows          90.0 %          90.0 %
//	  CPU time stolen               0.5 %           0.5 %
//	  windows that lost over 5.0 %  0 of 72         0 of 72
//	  calibration loop              65.0 µs ±0.3 %  65.0 µs ±0.3 %  1.00× 0.997–1.002×
//
//	                      noise floor  twins A  twins B  calibration  shift of all cases
//	  client-cpu-sec/op   6.4 %        2.8 %    6.4 %    0.3 %        1.04× 1.01–1.08×
//	  p50-latency-sec/op  4.2 %        4.1 %    4.2 %    0.3 %        1.05× 1.01–1.09×
//	  server-cpu-sec/op   5.0 %        4.9 %    5.0 %    0.3 %        1.05× 1.01–1.10×
//
//	                       A               B               B/A               p       difference
//	/kex=p521/cert=ecdsa-p256/tls=1.3
//	  server-cpu-sec/op    2.21 ms ±7.0 %  2.85 ms ±6.4 %  1.29× 1.20–1.37×  <0.001  slower
//	    over the baseline  5.26× ±3.1 %    6.50× ±3.7 %    1.25× 1.19–1.29×
//
//	Summary
//	keyexchange: 18 metrics compared, 1 differs beyond the noise floor; 17 do not, and more than 13.8 %
//	  is ruled out for each (least precise: client-cpu-sec/op of
//	  /kex=x25519mlkem768/cert=ecdsa-p256/tls=1.3). 19 exact quantities compared, 0 differ.
//
// (The samples of this example are simulated by the tests: the second run was
// in a worse hour, by 4 % for all cases, and P-521 costs the server another
// 20 %.) The columns A and B are medians over rounds; "±" is how far the 95 %
// interval of a median reaches, to the farther side; B/A is the ratio of the
// medians with its interval. The second line is the cost over the baseline: how
// many times the CPU of X25519 it is that P-521 took the server in either run.
// That the other metrics show no difference says little by itself; how large
// a difference could have gone unseen is in the summary, and with -all beside
// each of them: "none > 8 %" says that more than 8 % is ruled out.
//
// # When a difference is called one
//
// The noise floor of a quantity is how far two samples of it seem to differ
// that can't: those of the A/A twins, which are one case under two names. It is
// the farther end of the interval of their ratio, in the noisier of the two
// runs. A difference needs a ratio whose whole interval lies beyond the floor,
// and p < 0.05 in a Mann-Whitney test, corrected for the number of metrics of
// the experiment (Holm). With 6 rounds against 6, no p can be small enough for a
// table of more than 23 metrics; the summary then says so.
//
// Two runs on the same kind of hardware ([cryptocost/env.SameHardware]) have to
// show a difference twice: in the cost, where the floor is at least what the
// calibration loop shifted by from one run to the other, and in the cost over
// the baseline of the same round. On a shared machine all costs drift by 5 to
// 10 % from hour to hour; the loop, which stays in registers, shows only a part
// of that, and the cost over the baseline cancels what all cases have in
// common. The baseline is the case that has a twin; it is itself taken over the
// level of all cases. A shift of all cases together is told, but not called a
// difference: with one run each, nothing tells the hour from a change that
// concerns every case.
//
// Between different machines only the cost counts, since another ratio to the
// baseline is then as real as another cost. What a machine's hour adds is not in
// the floor there: with one run of each, don't read much into differences of
// less than 10 % between shared machines.
//
// Exact quantities (bytes, yes or no) have no p. They are the same or differ;
// where sizes vary within both runs, as those of ECDSA signatures do, "ranges
// overlap" is no difference. Percentiles other than the median and the records
// of noise are shown with -all, but not judged.
//
// # Exit status
//
// 0: compared, whatever the result. 1: a file is damaged (the others are
// compared nonetheless) or something else failed. 2: wrong usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"cryptocost/analysis/internal/command"
)

const usage = "usage: diff [-all] [-markdown] data/ONE data/OTHER"

func main() { command.Main("diff", run) }

// run prints the comparison of two directories to stdout. Errors in single
// data files do not keep the others from being compared.
func run(args []string, stdout, _ io.Writer) error {
	flags := flag.NewFlagSet("diff", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	all := flags.Bool("all", false, "show every metric, not only those that differ")
	markdown := flags.Bool("markdown", false, "print Markdown instead of plain text")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stdout)
		_, err := fmt.Fprintln(stdout, usage)
		flags.PrintDefaults()
		return err
	case err != nil:
		return command.Usagef("%w\n%s", err, usage)
	case flags.NArg() != 2:
		return command.Usagef("two folders of samples are needed, not %d (flags come before them)\n%s", flags.NArg(), usage)
	}
	a, errA := load("A", flags.Arg(0))
	b, errB := load("B", flags.Arg(1))
	damaged := errors.Join(errA, errB)
	if a == nil || b == nil {
		return damaged
	}
	return errors.Join(newReport(a, b, *all).write(stdout, *markdown), damaged)
}
