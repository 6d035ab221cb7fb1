// ML-KEM of Go's standard library, for test_other_implementations.py: a line of words, a line back.
//
//	key SET SEED           -> EK
//	encapsulate SET EK     -> C K
//	decapsulate SET SEED C -> K
package main

import (
	"bufio"
	"crypto/mlkem"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

func answer(words []string) ([][]byte, error) {
	data := make([][]byte, 0, 2)
	for _, word := range words[2:] {
		one, err := hex.DecodeString(word)
		if err != nil {
			return nil, err
		}
		data = append(data, one)
	}
	if words[1] == "ML-KEM-768" {
		if words[0] == "encapsulate" {
			ek, err := mlkem.NewEncapsulationKey768(data[0])
			if err != nil {
				return nil, err
			}
			key, c := ek.Encapsulate()
			return [][]byte{c, key}, nil
		}
		dk, err := mlkem.NewDecapsulationKey768(data[0])
		if err != nil {
			return nil, err
		}
		if words[0] == "key" {
			return [][]byte{dk.EncapsulationKey().Bytes()}, nil
		}
		key, err := dk.Decapsulate(data[1])
		return [][]byte{key}, err
	}
	if words[0] == "encapsulate" {
		ek, err := mlkem.NewEncapsulationKey1024(data[0])
		if err != nil {
			return nil, err
		}
		key, c := ek.Encapsulate()
		return [][]byte{c, key}, nil
	}
	dk, err := mlkem.NewDecapsulationKey1024(data[0])
	if err != nil {
		return nil, err
	}
	if words[0] == "key" {
		return [][]byte{dk.EncapsulationKey().Bytes()}, nil
	}
	key, err := dk.Decapsulate(data[1])
	return [][]byte{key}, err
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		found, err := answer(strings.Fields(lines.Text()))
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		words := make([]string, 0, 2)
		for _, one := range found {
			words = append(words, hex.EncodeToString(one))
		}
		fmt.Println(strings.Join(words, " "))
	}
}
