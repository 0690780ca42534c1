// Runs the scenarios of test_sdk_programs.py with azcosmos, and prints one line of JSON for each.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

type item = map[string]any

// unsupported is the error of a scenario that the SDK has no function for.
type unsupported string

func (reason unsupported) Error() string { return string(reason) }

type suite struct {
	endpoint string
	database *azcosmos.DatabaseClient
	items    *azcosmos.ContainerClient // 24 items with 12 keys, in several physical partitions
}

var ctx = context.Background()

// check stops a scenario, which fails with the formatted text.
func check(ok bool, format string, values ...any) {
	if !ok {
		panic(fmt.Errorf(format, values...))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func equal(what string, found, expected any) {
	check(reflect.DeepEqual(found, expected), "%s: found %v, expected %v", what, found, expected)
}

func fails(err error, status int) {
	var response *azcore.ResponseError
	check(errors.As(err, &response), "expected %d, found %v", status, err)
	equal("status of the error", response.StatusCode, status)
}

func encode(value any) []byte { return must(json.Marshal(value)) }

func decode(text []byte) item {
	var value item
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err)
	}
	return value
}

// user returns an item without its system properties.
func user(value item) item {
	copied := item{}
	for name, property := range value {
		if !strings.HasPrefix(name, "_") {
			copied[name] = property
		}
	}
	return copied
}

func key(value string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(value) }

func newClient(endpoint string, transport policy.Transporter) *azcosmos.Client {
	credential := must(azcosmos.NewKeyCredential(os.Getenv("COSMOS_KEY")))
	options := azcosmos.ClientOptions{EnableContentResponseOnWrite: true}
	options.Transport = transport
	return must(azcosmos.NewClientWithKey(endpoint, credential, &options))
}

func newDatabase(client *azcosmos.Client) *azcosmos.DatabaseClient {
	id := fmt.Sprintf("go-%d", time.Now().UnixNano())
	must(client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil))
	return must(client.NewDatabase(id))
}

func newContainer(database *azcosmos.DatabaseClient, id string, paths ...string) *azcosmos.ContainerClient {
	definition := azcosmos.PartitionKeyDefinition{Kind: azcosmos.PartitionKeyKindHash, Paths: paths, Version: 2}
	if len(paths) > 1 {
		definition.Kind = azcosmos.PartitionKeyKindMultiHash
	}
	must(database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: id, PartitionKeyDefinition: definition}, nil))
	return must(database.NewContainer(id))
}

func rows(container *azcosmos.ContainerClient, query string, partition azcosmos.PartitionKey, size int32) ([]item, error) {
	found := []item{}
	pager := container.NewQueryItemsPager(query, partition, &azcosmos.QueryOptions{PageSizeHint: size})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		check(page.RequestCharge > 0, "a page has no charge")
		check(size < 0 || len(page.Items) <= int(size), "a page has %d items", len(page.Items))
		for _, one := range page.Items {
			found = append(found, decode(one))
		}
	}
	return found, nil
}

func ids(found []item) []string {
	names := []string{}
	for _, one := range found {
		names = append(names, one["id"].(string))
	}
	slices.Sort(names)
	return names
}

func (s *suite) create() (string, error) {
	expected := item{"id": "a", "pk": "created", "n": 1.5, "text": "Grüße ☃", "none": nil, "list": []any{true, "x"}}
	created := must(s.items.CreateItem(ctx, key("created"), encode(expected), nil))
	equal("status", created.RawResponse.StatusCode, 201)
	equal("item", user(decode(created.Value)), expected)
	equal("ETag", string(created.ETag), decode(created.Value)["_etag"])
	check(created.RequestCharge > 0, "no charge")
	check(created.SessionToken != nil && *created.SessionToken != "", "no session token")
	_, err := s.items.CreateItem(ctx, key("created"), encode(expected), nil)
	fails(err, 409)
	must(s.items.DeleteItem(ctx, key("created"), "a", nil))
	return fmt.Sprintf("charge %.2f; twice: 409", created.RequestCharge), nil
}

func (s *suite) read() (string, error) {
	created := must(s.items.CreateItem(ctx, key("read"), encode(item{"id": "r", "pk": "read", "n": 1}), nil))
	read := must(s.items.ReadItem(ctx, key("read"), "r", &azcosmos.ItemOptions{SessionToken: created.SessionToken}))
	equal("item", decode(read.Value), decode(created.Value))
	equal("ETag", read.ETag, created.ETag)
	check(read.RequestCharge > 0, "no charge")
	_, err := s.items.ReadItem(ctx, key("read"), "missing", nil)
	fails(err, 404)

	match := &azcosmos.ItemOptions{IfMatchEtag: &read.ETag, EnableContentResponseOnWrite: true}
	replaced := must(s.items.ReplaceItem(ctx, key("read"), "r", encode(item{"id": "r", "pk": "read", "n": 2}), match))
	equal("n", decode(replaced.Value)["n"], 2.0)
	check(replaced.ETag != read.ETag, "the ETag has not changed")
	_, err = s.items.ReplaceItem(ctx, key("read"), "r", encode(item{"id": "r", "pk": "read", "n": 3}), match)
	fails(err, 412)
	must(s.items.DeleteItem(ctx, key("read"), "r", nil))
	return fmt.Sprintf("charge %.2f; missing: 404; old ETag: 412", read.RequestCharge), nil
}

// rejected runs a query that this SDK cannot merge, and that the service's gateway rejects.
func (s *suite) rejected(query string) (string, error) {
	_, err := rows(s.items, query, azcosmos.NewPartitionKey(), 5)
	fails(err, 400)
	check(strings.Contains(err.Error(), "can not be directly served by the gateway"), "another message: %v", err)
	projected := must(rows(s.items, "SELECT c.id, c.n FROM c WHERE c.n >= 20", azcosmos.NewPartitionKey(), 5))
	equal("filtered ids", ids(projected), []string{"20", "21", "22", "23"})
	return "", unsupported("the SDK leaves queries across partitions to the gateway, which only filters and projects: 400")
}

func (s *suite) queryOrderBy() (string, error) {
	return s.rejected("SELECT c.id, c.n FROM c WHERE c.n >= 4 ORDER BY c.n DESC")
}

func (s *suite) queryGroupBy() (string, error) {
	return s.rejected("SELECT c.kind, COUNT(1) AS count, SUM(c.n) AS sum, AVG(c.n) AS mean FROM c GROUP BY c.kind")
}

func (s *suite) batch() (string, error) {
	increment := azcosmos.PatchOperations{}
	increment.AppendIncrement("/n", 41)
	batch := s.items.NewTransactionalBatch(key("batch"))
	batch.CreateItem(encode(item{"id": "b1", "pk": "batch", "n": 1}), nil)
	batch.UpsertItem(encode(item{"id": "b2", "pk": "batch"}), nil)
	batch.PatchItem("b1", increment, nil)
	batch.ReadItem("b1", nil)
	batch.DeleteItem("b2", nil)
	response := must(s.items.ExecuteTransactionalBatch(ctx, batch, &azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true}))
	check(response.Success && response.RequestCharge > 0, "no success, or no charge")
	codes := []int32{}
	for _, result := range response.OperationResults {
		codes = append(codes, result.StatusCode)
		check(result.RequestCharge > 0, "an operation has no charge")
	}
	equal("status codes", codes, []int32{201, 201, 200, 200, 204})
	read := response.OperationResults[3]
	equal("item", user(decode(read.ResourceBody)), item{"id": "b1", "pk": "batch", "n": 42.0})
	equal("ETag", string(read.ETag), decode(read.ResourceBody)["_etag"])

	failing := s.items.NewTransactionalBatch(key("batch"))
	failing.CreateItem(encode(item{"id": "b3", "pk": "batch"}), nil)
	failing.CreateItem(encode(item{"id": "b1", "pk": "batch"}), nil)
	failed := must(s.items.ExecuteTransactionalBatch(ctx, failing, nil))
	check(!failed.Success, "a conflict is no success")
	equal("codes", []int32{failed.OperationResults[0].StatusCode, failed.OperationResults[1].StatusCode}, []int32{424, 409})
	_, err := s.items.ReadItem(ctx, key("batch"), "b3", nil)
	fails(err, 404)
	must(s.items.DeleteItem(ctx, key("batch"), "b1", nil))
	return fmt.Sprintf("charge %.2f; conflict: 424, 409, rolled back", response.RequestCharge), nil
}

func (s *suite) patch() (string, error) {
	original := item{"id": "p", "pk": "patch", "n": 1, "tags": []string{"a"}, "old": true}
	created := must(s.items.CreateItem(ctx, key("patch"), encode(original), nil))
	operations := azcosmos.PatchOperations{}
	operations.AppendSet("/text", "new")
	operations.AppendIncrement("/n", 2)
	operations.AppendAdd("/tags/-", "b")
	operations.AppendRemove("/old")
	operations.SetCondition("FROM c WHERE c.n = 1")
	patched := must(s.items.PatchItem(ctx, key("patch"), "p", operations, nil))
	expected := item{"id": "p", "pk": "patch", "n": 3.0, "tags": []any{"a", "b"}, "text": "new"}
	equal("item", user(decode(patched.Value)), expected)
	check(patched.RequestCharge > 0 && patched.ETag != created.ETag, "no charge, or the same ETag")
	_, err := s.items.PatchItem(ctx, key("patch"), "p", operations, nil)
	fails(err, 412)
	must(s.items.DeleteItem(ctx, key("patch"), "p", nil))
	return fmt.Sprintf("charge %.2f; false condition: 412", patched.RequestCharge), nil
}

func (s *suite) bulk() (string, error) {
	return "", unsupported("azcosmos has no bulk operations")
}

func (s *suite) changeFeed() (string, error) {
	seen, token, charge := []item{}, (*string)(nil), float32(0)
	drain := func() []item {
		found := []item{}
		for quiet := 0; quiet < 8; { // the SDK reads one range after the other
			page := must(s.items.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{MaxItemCount: 5, Continuation: token, FeedRange: &azcosmos.FeedRange{MinInclusive: "", MaxExclusive: "FF"}}))
			for _, one := range page.Items {
				found = append(found, decode(one))
			}
			charge += page.RequestCharge
			check(page.ContinuationToken != "", "no continuation token")
			token = &page.ContinuationToken
			if quiet++; len(page.Items) > 0 {
				quiet = 0
			}
		}
		return found
	}
	seen = drain()
	equal("ids", ids(seen), s.spreadIDs())
	check(charge > 0, "no charge")
	equal("rest", ids(drain()), []string{})
	changed := item{"id": "3", "pk": "key 3", "n": 3, "kind": 0, "changed": true}
	must(s.items.UpsertItem(ctx, key("key 3"), encode(changed), nil))
	rest := drain()
	equal("changed ids", ids(rest), []string{"3"})
	equal("changed", rest[0]["changed"], true)
	ranges := must(s.items.ReadFeedRanges(ctx, nil))
	return fmt.Sprintf("24 items of %d ranges, then the changed one", len(ranges)), nil
}

func (s *suite) spreadIDs() []string {
	expected := []string{}
	for n := range 24 {
		expected = append(expected, fmt.Sprint(n))
	}
	slices.Sort(expected)
	return expected
}

func (s *suite) hierarchicalKeys() (string, error) {
	container := newContainer(s.database, "hierarchical", "/tenant", "/user", "/session")
	for _, tenant := range []string{"t1", "t2", "t3"} {
		for _, name := range []string{"u1", "u2"} {
			for session := range 2 {
				id := fmt.Sprintf("%s %s %d", tenant, name, session)
				full := key(tenant).AppendString(name).AppendNumber(float64(session))
				value := item{"id": id, "tenant": tenant, "user": name, "session": session}
				must(container.CreateItem(ctx, full, encode(value), nil))
			}
		}
	}
	read := must(container.ReadItem(ctx, key("t2").AppendString("u1").AppendNumber(1), "t2 u1 1", nil))
	equal("item", user(decode(read.Value)), item{"id": "t2 u1 1", "tenant": "t2", "user": "u1", "session": 1.0})
	_, err := container.ReadItem(ctx, key("t2").AppendString("u1").AppendNumber(0), "t2 u1 1", nil)
	fails(err, 404)
	full := must(rows(container, "SELECT * FROM c", key("t2").AppendString("u1").AppendNumber(1), -1))
	equal("ids of a full key", ids(full), []string{"t2 u1 1"})
	// The SDK takes no prefix of a key, but a filter with an empty key.
	two := must(rows(container, "SELECT * FROM c WHERE c.tenant = 't2' AND c.user = 'u1'", azcosmos.NewPartitionKey(), -1))
	equal("ids of two levels", ids(two), []string{"t2 u1 0", "t2 u1 1"})
	one := must(rows(container, "SELECT * FROM c WHERE c.tenant = 't2'", azcosmos.NewPartitionKey(), -1))
	equal("ids of one level", ids(one), []string{"t2 u1 0", "t2 u1 1", "t2 u2 0", "t2 u2 1"})
	return "12 items; full key, and filters on one and two levels", nil
}

// fault adds a rule, and returns a function that removes it and returns how many requests it struck.
func (s *suite) fault(rule item) func() int {
	send := func(method, path string, body []byte) item {
		request := must(http.NewRequest(method, s.endpoint+"_emulator/faults"+path, bytes.NewReader(body)))
		response := must(http.DefaultClient.Do(request))
		defer response.Body.Close()
		return decode(must(io.ReadAll(response.Body)))
	}
	number := fmt.Sprintf("/%v", send("POST", "", encode(rule))["id"])
	return func() int { return int(send("DELETE", number, nil)["struck"].(float64)) }
}

func (s *suite) throttling() (string, error) {
	rule := item{"fault": 429, "operation": "create", "database": s.database.ID(), "times": 2, "retry-after-ms": 20}
	struck := s.fault(rule)
	start := time.Now()
	created := must(s.items.CreateItem(ctx, key("throttled"), encode(item{"id": "t", "pk": "throttled"}), nil))
	check(time.Since(start) >= 40*time.Millisecond, "the SDK did not wait for x-ms-retry-after-ms")
	equal("status", created.RawResponse.StatusCode, 201)
	equal("throttled requests", struck(), 2)
	delete(rule, "times")
	struck = s.fault(rule)
	_, err := s.items.CreateItem(ctx, key("throttled"), encode(item{"id": "never", "pk": "throttled"}), nil)
	attempts := struck()
	fails(err, 429)
	equal("attempts", attempts, 4)
	must(s.items.DeleteItem(ctx, key("throttled"), "t", nil))
	return "created after 2 retries; gives up after 3", nil
}

func (s *suite) tls() (string, error) {
	endpoint := os.Getenv("COSMOS_TLS_ENDPOINT")
	trusted := x509.NewCertPool()
	check(trusted.AppendCertsFromPEM(must(os.ReadFile(os.Getenv("COSMOS_CERTIFICATE")))), "no certificate")
	trusting := func(roots *x509.CertPool) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	}
	// Not with the SDK, which retries this error for a while.
	_, err := trusting(x509.NewCertPool()).Get(endpoint)
	unknown := x509.UnknownAuthorityError{}
	check(errors.As(err, &unknown), "without the certificate: %v", err)
	database := newDatabase(newClient(endpoint, trusting(trusted)))
	items := newContainer(database, "items", "/pk")
	must(items.CreateItem(ctx, key("p"), encode(item{"id": "a", "pk": "p"}), nil))
	read := must(items.ReadItem(ctx, key("p"), "a", nil))
	check(read.RawResponse.TLS != nil, "the connection has no TLS")
	equal("item", user(decode(read.Value)), item{"id": "a", "pk": "p"})
	must(database.Delete(ctx, nil))
	return fmt.Sprintf("created and read; without the certificate: %v", unknown), nil
}

// run returns the line of a scenario.
func run(name string, scenario func() (string, error)) (line map[string]string) {
	line = map[string]string{"scenario": name, "result": "failed"}
	defer func() {
		if problem := recover(); problem != nil {
			line["detail"] = fmt.Sprint(problem)
		}
	}()
	detail, err := scenario()
	line["result"], line["detail"] = "passed", detail
	if reason := unsupported(""); errors.As(err, &reason) {
		line["result"], line["detail"] = "unsupported", string(reason)
	}
	return line
}

func main() {
	s := &suite{endpoint: os.Getenv("COSMOS_ENDPOINT")}
	s.database = newDatabase(newClient(s.endpoint, nil))
	s.items = newContainer(s.database, "items", "/pk")
	for n := range 24 {
		partition := fmt.Sprintf("key %d", n%12)
		value := item{"id": fmt.Sprint(n), "pk": partition, "n": n, "kind": n % 3}
		must(s.items.CreateItem(ctx, key(partition), encode(value), nil))
	}
	scenarios := []struct {
		name string
		run  func() (string, error)
	}{
		{"create", s.create},
		{"read", s.read},
		{"query ORDER BY", s.queryOrderBy},
		{"query GROUP BY", s.queryGroupBy},
		{"transactional batch", s.batch},
		{"patch", s.patch},
		{"bulk", s.bulk},
		{"change feed", s.changeFeed},
		{"hierarchical keys", s.hierarchicalKeys},
		{"throttling", s.throttling},
		{"TLS", s.tls},
	}
	for _, scenario := range scenarios {
		fmt.Println(string(encode(run(scenario.name, scenario.run))))
	}
	must(s.database.Delete(ctx, nil))
}
