// One side of a TLS 1.3 connection with one group: the client sends bytes, and the server sends
// them back in reverse order.
//
//	main client GROUP SIZE CERTIFICATE PORT   sends SIZE random bytes, and compares the answer
//	main server GROUP SIZE CERTIFICATE KEY    prints its port, and answers one client
//
// GROUP is a number. Both print the number of the group that was used, and end with 0.
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"strconv"
)

func main() {
	group, err := strconv.ParseUint(os.Args[2], 10, 16)
	check(err)
	size, err := strconv.Atoi(os.Args[3])
	check(err)
	config := &tls.Config{
		CurvePreferences: []tls.CurveID{tls.CurveID(group)},
		MinVersion:       tls.VersionTLS13,
	}
	if os.Args[1] == "client" {
		client(config, size, os.Args[4], os.Args[5])
	} else {
		server(config, size, os.Args[4], os.Args[5])
	}
}

func client(config *tls.Config, size int, certificate, port string) {
	known, err := os.ReadFile(certificate)
	check(err)
	config.RootCAs = x509.NewCertPool()
	config.RootCAs.AppendCertsFromPEM(known)
	config.ServerName = "localhost"
	connection, err := tls.Dial("tcp", "127.0.0.1:"+port, config)
	check(err)
	sent, found := make([]byte, size), make([]byte, size)
	rand.Read(sent)
	_, err = connection.Write(sent)
	check(err)
	_, err = io.ReadFull(connection, found)
	check(err)
	slices.Reverse(found)
	if !bytes.Equal(sent, found) {
		log.Fatal("the answer is another one")
	}
	finish(connection)
}

func server(config *tls.Config, size int, certificate, key string) {
	identity, err := tls.LoadX509KeyPair(certificate, key)
	check(err)
	config.Certificates = []tls.Certificate{identity}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	accepted, err := listener.Accept()
	check(err)
	connection := tls.Server(accepted, config)
	data := make([]byte, size)
	_, err = io.ReadFull(connection, data)
	check(err)
	slices.Reverse(data)
	_, err = connection.Write(data)
	check(err)
	finish(connection)
}

func finish(connection *tls.Conn) {
	fmt.Println(uint16(connection.ConnectionState().CurveID))
	connection.Close()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
