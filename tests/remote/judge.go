// Judges chains of certificates as Go does: one question a line on standard input, one answer a line on standard output.
package main

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"os"
	"time"
)

type question struct {
	Chain, Roots [][]byte // DER, in base64
	Host         string   // "" for a client's chain
	Time         int64
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		_ = answers.Encode(judge(asked))
	}
}

func judge(asked question) string {
	options := x509.VerifyOptions{
		Roots:         x509.NewCertPool(),
		Intermediates: x509.NewCertPool(),
		CurrentTime:   time.Unix(asked.Time, 0),
		DNSName:       asked.Host,
	}
	if asked.Host == "" {
		options.KeyUsages = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	for _, der := range asked.Roots {
		if root, err := x509.ParseCertificate(der); err == nil {
			options.Roots.AddCert(root)
		}
	}
	var leaf *x509.Certificate
	for _, der := range asked.Chain {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return "failed to parse: " + err.Error()
		}
		if leaf == nil {
			leaf = certificate
		} else {
			options.Intermediates.AddCert(certificate)
		}
	}
	if _, err := leaf.Verify(options); err != nil {
		return err.Error()
	}
	return ""
}
