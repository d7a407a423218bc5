package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"cryptocost/analysis/internal/samples"
	"cryptocost/analysis/internal/study"
)

// A record is one of those that the samples have of a case.
type record struct {
	number     int
	fromClient bool
	messages   []string // as in the name of the case
	name       string   // its case
}

// recordsOf finds the records of a case, in their order.
func recordsOf(m *samples.Machine, of string) []record {
	var list []record
	for _, name := range m.Cases() {
		tail, ok := strings.CutPrefix(name, of+"/record=")
		if !ok {
			continue
		}
		parts := strings.SplitN(tail, "-", 3)
		number, err := strconv.Atoi(parts[0])
		if len(parts) != 3 || err != nil {
			continue // not of the experiment's making
		}
		list = append(list, record{number, parts[1] == "client", strings.Split(parts[2], "+"), name})
	}
	return list
}

// messageNames are the names of RFC 8446 and RFC 5246, by those in cases.
var messageNames = map[string]string{
	"clienthello": "ClientHello", "serverhello": "ServerHello", "helloretryrequest": "HelloRetryRequest",
	"encryptedextensions": "EncryptedExtensions", "certificate": "Certificate", "certificateverify": "CertificateVerify",
	"certificaterequest": "CertificateRequest", "certificatestatus": "CertificateStatus",
	"serverkeyexchange": "ServerKeyExchange", "serverhellodone": "ServerHelloDone", "clientkeyexchange": "ClientKeyExchange",
	"finished": "Finished", "newsessionticket": "NewSessionTicket", "changecipherspec": "ChangeCipherSpec", "keyupdate": "KeyUpdate",
}

// has says whether a message is inside, whole or in part.
func (r record) has(message string) bool {
	return slices.ContainsFunc(r.messages, func(m string) bool { return strings.TrimSuffix(m, "-continued") == message })
}

// title is what is inside, for the reader.
func (r record) title() string {
	var list []string
	for _, message := range r.messages {
		base, continued := strings.CutSuffix(message, "-continued")
		if known, ok := messageNames[base]; ok {
			base = known
		}
		if continued {
			base += ", continued"
		}
		list = append(list, base)
	}
	return strings.Join(list, " + ")
}

// sender is the end that the record is from.
func (r record) sender() string {
	if r.fromClient {
		return "client"
	}
	return "server"
}

// Types of records (RFC 8446, 5.1).
const changeCipherSpec, applicationData = 20, 23

// types are the names of all, by number.
var types = map[int]string{changeCipherSpec: "ChangeCipherSpec", 21: "Alert", 22: "Handshake", applicationData: "ApplicationData"}

// typeOf is the type that a listener reads; 0 where the samples have none.
func typeOf(d *study.Data, r record) int {
	v := d.Point(d.Main, recordType, r.name).Center
	if math.IsNaN(v) {
		return 0
	}
	return int(v)
}

// typeName writes a type for the reader.
func typeName(number int) string {
	if name, ok := types[number]; ok {
		return name + " (" + strconv.Itoa(number) + ")"
	}
	return "type " + strconv.Itoa(number)
}

// encrypted says of each record whether what is inside is. In TLS 1.3 it is
// what goes as application data (RFC 8446, 5.2), in TLS 1.2 whatever follows
// the sender's ChangeCipherSpec (RFC 5246, 7.1).
func encrypted(d *study.Data, tls string, records []record) []bool {
	list := make([]bool, len(records))
	changed := map[bool]bool{}
	for i, r := range records {
		number := typeOf(d, r)
		if tls == tls13 {
			list[i] = number == applicationData
			continue
		}
		list[i] = changed[r.fromClient]
		if number == changeCipherSpec {
			changed[r.fromClient] = true
		}
	}
	return list
}
