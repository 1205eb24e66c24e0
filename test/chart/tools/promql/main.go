// Command promql reads expressions of Prometheus as a JSON list of texts from its input, and names those that
// Prometheus would refuse.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	var expressions []string
	if err := json.NewDecoder(os.Stdin).Decode(&expressions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	refused := 0
	for _, expression := range expressions {
		if _, err := parser.ParseExpr(expression); err != nil {
			fmt.Printf("%s\n  %v\n", expression, err)
			refused++
		}
	}
	if refused > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d taken\n", len(expressions))
}
