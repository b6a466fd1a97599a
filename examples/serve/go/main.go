// Send a plan, and SQL, to a server of pyspark-substrait, and print the rows.
//
// Usage: go run . HOST:PORT TOKEN PLAN SQL
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

func main() {
	if len(os.Args) != 5 {
		fail(fmt.Errorf("usage: %s HOST:PORT TOKEN PLAN SQL", os.Args[0]))
	}
	address, token, file, text := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	plan, err := os.ReadFile(file)
	fail(err)

	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	client, err := flightsql.NewClient(address, nil, nil, plain)
	fail(err)
	defer client.Close()
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)

	info, err := client.ExecuteSubstrait(ctx, flightsql.SubstraitPlan{Plan: plan})
	fail(err)
	show(ctx, client, info)
	info, err = client.Execute(ctx, text)
	fail(err)
	show(ctx, client, info)
}

// show prints the rows of a result, a line each, with tabs between the columns.
func show(ctx context.Context, client *flightsql.Client, info *flight.FlightInfo) {
	for _, endpoint := range info.Endpoint {
		reader, err := client.DoGet(ctx, endpoint.Ticket)
		fail(err)
		for reader.Next() {
			printRows(reader.RecordBatch())
		}
		fail(reader.Err())
		reader.Release()
	}
}

func printRows(batch arrow.RecordBatch) {
	for row := range int(batch.NumRows()) {
		values := make([]string, batch.NumCols())
		for column := range values {
			values[column] = batch.Column(column).ValueStr(row)
		}
		fmt.Println(strings.Join(values, "\t"))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
