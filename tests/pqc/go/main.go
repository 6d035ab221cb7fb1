// One side of a TLS 1.3 handshake with X25519MLKEM768, which prints the secrets of its key log.
//
//	main client ADDRESS    connects there
//	main server            prints its address, and answers one client
//
// The handshake ends after the ServerHello, since the other side knows no more.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"math/big"
	"net"
	"os"
)

func main() {
	config := &tls.Config{
		CurvePreferences:   []tls.CurveID{tls.X25519MLKEM768},
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true,
		KeyLogWriter:       os.Stdout,
	}
	if os.Args[1] == "client" {
		connection, err := net.Dial("tcp", os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		tls.Client(connection, config).Handshake()
		return
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	subject := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, subject, subject, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	config.Certificates = []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	connection, err := listener.Accept()
	if err != nil {
		log.Fatal(err)
	}
	tls.Server(connection, config).Handshake()
}
