// Sends each attack of attacks.json to a receiver, and says which answers do harm.
//
//	go run judge.go attacks.json http://localhost:8000/webhooks/payments
//
// Give the receiver the `secret` of the file and an order with its `reference`. Exits with 1 if an
// answer does harm. It writes to the socket itself, because HTTP clients repair what attackers send.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
)

type attack struct {
	Name, Why string
	Headers   map[string]string
	Body      []byte // from base64
	Expected  []string
}

// answer returns the status class of the answer, or "none".
func answer(to *url.URL, each attack) string {
	request := "POST " + to.EscapedPath() + " HTTP/1.1\r\n"
	each.Headers["host"], each.Headers["content-length"] = to.Host, fmt.Sprint(len(each.Body))
	each.Headers["connection"] = "close"
	for name, value := range each.Headers {
		request += name + ": " + value + "\r\n"
	}
	bytes := []byte{}
	for _, character := range request + "\r\n" {
		bytes = append(bytes, byte(character))
	} // Latin-1
	connection, err := net.Dial("tcp", to.Host)
	check(err)
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(20 * time.Second))
	connection.Write(append(bytes, each.Body...)) // It may answer before it has read the body.
	line, _ := bufio.NewReader(connection).ReadString('\n')
	if strings.HasPrefix(line, "HTTP/1.") {
		return line[9:10] + "xx"
	}
	return "none"
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	to, err := url.Parse(os.Args[2])
	check(err)
	var file struct{ Attacks []attack }
	check(json.Unmarshal(text, &file))
	harmful := 0
	for _, each := range file.Attacks {
		got := answer(to, each)
		if strings.Contains(strings.Join(each.Expected, " "), got) {
			continue
		}
		harmful++
		fmt.Printf("%s: got %s. %s\n", each.Name, got, each.Why)
	}
	fmt.Printf("%d attacks, %d answers do harm\n", len(file.Attacks), harmful)
	if harmful > 0 {
		os.Exit(1)
	}
}
