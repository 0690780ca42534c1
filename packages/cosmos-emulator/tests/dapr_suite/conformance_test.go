package conformance

import (
	"os"
	"testing"

	"github.com/dapr/components-contrib/state/azure/cosmosdb"
	"github.com/dapr/components-contrib/tests/conformance/state"
	"github.com/dapr/kit/logger"
)

func TestStateStore(t *testing.T) {
	// As in tests/config/state/tests.yml of components-contrib.
	operations := []string{"transaction", "etag", "first-write", "query", "ttl"}
	config, err := state.NewTestConfig("azure.cosmosdb", operations, map[string]interface{}{})
	if err != nil {
		t.Fatal(err)
	}
	properties := map[string]string{
		"url":        os.Getenv("COSMOS_ENDPOINT"),
		"masterKey":  os.Getenv("COSMOS_KEY"),
		"database":   "dapr",
		"collection": "state",
	}
	state.ConformanceTests(t, properties, cosmosdb.NewCosmosDBStateStore(logger.NewLogger("dapr")), config)
}
