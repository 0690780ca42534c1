import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosBatchOperationResult;
import com.azure.cosmos.models.CosmosBatchResponse;
import com.azure.cosmos.models.CosmosBulkOperationResponse;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosItemResponse;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import javax.net.ssl.SSLHandshakeException;

/** Runs the scenarios of test_sdk_programs.py with azure-cosmos, and prints one line of JSON for each. */
public final class Program {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ENDPOINT = System.getenv("COSMOS_ENDPOINT");
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final List<String> SPREAD_IDS = IntStream.range(0, 24).mapToObj(String::valueOf).sorted().toList();

    private final CosmosDatabase database;
    private final CosmosContainer items; // 24 items with 12 keys, in several physical partitions

    private Program(CosmosClient client) {
        database = newDatabase(client);
        items = newContainer(database, "items", "/pk");
        for (int n = 0; n < 24; n++) {
            items.createItem(spread(n));
        }
    }

    public static void main(String[] arguments) throws Exception {
        trust(Path.of(System.getenv("COSMOS_CERTIFICATE")));
        System.setProperty("COSMOS.HTTP_CONNECTION_WITHOUT_TLS_ALLOWED", "true"); // before the first client
        try (CosmosClient client = newClient(ENDPOINT)) {
            Program program = new Program(client);
            Map<String, Callable<String>> scenarios = new LinkedHashMap<>();
            scenarios.put("create", program::create);
            scenarios.put("read", program::read);
            scenarios.put("query ORDER BY", program::queryOrderBy);
            scenarios.put("query GROUP BY", program::queryGroupBy);
            scenarios.put("transactional batch", program::batch);
            scenarios.put("patch", program::patch);
            scenarios.put("bulk", program::bulk);
            scenarios.put("change feed", program::changeFeed);
            scenarios.put("hierarchical keys", program::hierarchicalKeys);
            scenarios.put("throttling", program::throttling);
            scenarios.put("TLS", Program::tls);
            for (Map.Entry<String, Callable<String>> scenario : scenarios.entrySet()) {
                System.out.println(line(scenario.getKey(), scenario.getValue()));
            }
            program.database.delete();
        }
        System.exit(0);
    }

    private static ObjectNode line(String name, Callable<String> scenario) {
        ObjectNode line = JSON.createObjectNode().put("scenario", name);
        try {
            String detail = scenario.call();
            return line.put("result", "passed").put("detail", detail);
        } catch (Exception | AssertionError error) {
            return line.put("result", "failed").put("detail", error + " at " + error.getStackTrace()[0]);
        }
    }

    private static CosmosClient newClient(String endpoint) {
        return new CosmosClientBuilder()
            .endpoint(endpoint)
            .key(System.getenv("COSMOS_KEY"))
            .gatewayMode()
            .contentResponseOnWriteEnabled(true)
            .buildClient();
    }

    private static CosmosDatabase newDatabase(CosmosClient client) {
        String id = "java-" + UUID.randomUUID();
        client.createDatabase(id);
        return client.getDatabase(id);
    }

    private static CosmosContainer newContainer(CosmosDatabase database, String id, String... paths) {
        PartitionKeyDefinition definition = new PartitionKeyDefinition()
            .setPaths(List.of(paths))
            .setKind(paths.length > 1 ? PartitionKind.MULTI_HASH : PartitionKind.HASH)
            .setVersion(PartitionKeyDefinitionVersion.V2);
        database.createContainer(new CosmosContainerProperties(id, definition));
        return database.getContainer(id);
    }

    private static ObjectNode spread(int n) {
        return JSON.createObjectNode().put("id", "" + n).put("pk", "key " + n % 12).put("n", n).put("kind", n % 3);
    }

    /** Parse an item, which can have single quotes instead of double ones. */
    private static ObjectNode item(String text) throws Exception {
        return (ObjectNode) JSON.readTree(text.replace('\'', '"'));
    }

    /** Return an item without its system properties. */
    private static ObjectNode user(ObjectNode item) {
        ObjectNode copy = item.deepCopy();
        List<String> names = new ArrayList<>();
        copy.fieldNames().forEachRemaining(names::add);
        return copy.remove(names.stream().filter(name -> name.startsWith("_")).toList());
    }

    private static List<String> ids(List<ObjectNode> found) {
        return found.stream().map(one -> one.get("id").asText()).sorted().toList();
    }

    private static void check(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    private static void equal(Object found, Object expected) {
        check(Objects.equals(found, expected), "found " + found + ", expected " + expected);
    }

    private static void fails(int status, Runnable operation) {
        try {
            operation.run();
        } catch (CosmosException error) {
            equal(error.getStatusCode(), status);
            return;
        }
        throw new AssertionError("expected " + status + ", and nothing failed");
    }

    private static PartitionKey key(String value) {
        return new PartitionKey(value);
    }

    private void delete(String id, String key) {
        items.deleteItem(id, key(key), new CosmosItemRequestOptions());
    }

    private String create() throws Exception {
        ObjectNode expected = item("{'id': 'a', 'pk': 'created', 'n': 1.5, 'text': 'Grüße ☃', 'none': null, 'list': [true]}");
        CosmosItemResponse<ObjectNode> created = items.createItem(expected, key("created"), null);
        equal(created.getStatusCode(), 201);
        equal(user(created.getItem()), expected);
        equal(created.getETag(), created.getItem().get("_etag").asText());
        check(created.getRequestCharge() > 0, "no charge");
        check(!created.getSessionToken().isEmpty(), "no session token");
        fails(409, () -> items.createItem(expected));
        delete("a", "created");
        return "charge " + created.getRequestCharge() + "; twice: 409";
    }

    private String read() throws Exception {
        CosmosItemResponse<ObjectNode> created = items.createItem(item("{'id': 'r', 'pk': 'read', 'n': 1}"));
        CosmosItemResponse<ObjectNode> read = items.readItem("r", key("read"), ObjectNode.class);
        equal(read.getItem(), created.getItem());
        equal(read.getETag(), created.getETag());
        check(read.getRequestCharge() > 0, "no charge");
        fails(404, () -> items.readItem("missing", key("read"), ObjectNode.class));

        CosmosItemRequestOptions match = new CosmosItemRequestOptions().setIfMatchETag(read.getETag());
        ObjectNode changed = item("{'id': 'r', 'pk': 'read', 'n': 2}");
        CosmosItemResponse<ObjectNode> replaced = items.replaceItem(changed, "r", key("read"), match);
        equal(replaced.getItem().get("n").asInt(), 2);
        check(!replaced.getETag().equals(read.getETag()), "the ETag has not changed");
        fails(412, () -> items.replaceItem(changed, "r", key("read"), match));
        delete("r", "read");
        return "charge " + read.getRequestCharge() + "; missing: 404; old ETag: 412";
    }

    private String queryOrderBy() throws Exception {
        List<ObjectNode> rows = new ArrayList<>();
        int pages = 0;
        double charge = 0;
        String query = "SELECT c.id, c.n FROM c WHERE c.n >= 4 ORDER BY c.n DESC";
        Iterable<FeedResponse<ObjectNode>> found = items
            .queryItems(query, new CosmosQueryRequestOptions(), ObjectNode.class)
            .iterableByPage(5);
        for (FeedResponse<ObjectNode> page : found) {
            check(page.getResults().size() <= 5, "a page has " + page.getResults().size() + " rows");
            rows.addAll(page.getResults());
            charge += page.getRequestCharge();
            pages += page.getResults().isEmpty() ? 0 : 1;
        }
        equal(rows.stream().map(row -> row.get("n").asInt()).toList(), IntStream.range(0, 20).mapToObj(n -> 23 - n).toList());
        equal(rows.get(0), item("{'id': '23', 'n': 23}"));
        check(charge > 0, "no charge");
        return "20 rows in " + pages + " pages, charge " + Math.round(charge * 100) / 100.0;
    }

    private String queryGroupBy() throws Exception {
        String query = "SELECT c.kind, COUNT(1) AS count, SUM(c.n) AS sum, AVG(c.n) AS mean FROM c GROUP BY c.kind";
        Map<Integer, JsonNode> groups = new TreeMap<>();
        double charge = 0;
        Iterable<FeedResponse<ObjectNode>> found = items
            .queryItems(query, new CosmosQueryRequestOptions(), ObjectNode.class)
            .iterableByPage(5);
        for (FeedResponse<ObjectNode> page : found) {
            charge += page.getRequestCharge();
            for (ObjectNode row : page.getResults()) {
                check(groups.put(row.get("kind").asInt(), row) == null, "a group is repeated");
            }
        }
        equal(groups.size(), 3);
        for (int kind = 0; kind < 3; kind++) {
            JsonNode group = groups.get(kind);
            equal(group.get("count").asInt(), 8);
            equal(group.get("sum").asDouble(), 84.0 + 8 * kind);
            equal(group.get("mean").asDouble(), 10.5 + kind);
        }
        check(charge > 0, "no charge");
        return "3 groups, charge " + Math.round(charge * 100) / 100.0;
    }

    private String batch() throws Exception {
        CosmosBatch batch = CosmosBatch.createCosmosBatch(key("batch"));
        batch.createItemOperation(item("{'id': 'b1', 'pk': 'batch', 'n': 1}"));
        batch.upsertItemOperation(item("{'id': 'b2', 'pk': 'batch'}"));
        batch.patchItemOperation("b1", CosmosPatchOperations.create().increment("/n", 41));
        batch.readItemOperation("b1");
        batch.deleteItemOperation("b2");
        CosmosBatchResponse response = items.executeCosmosBatch(batch);
        check(response.isSuccessStatusCode() && response.getRequestCharge() > 0, "no success, or no charge");
        equal(codes(response), List.of(201, 201, 200, 200, 204));
        check(response.getResults().stream().allMatch(one -> one.getRequestCharge() > 0), "an operation has no charge");
        CosmosBatchOperationResult read = response.getResults().get(3);
        equal(user(read.getItem(ObjectNode.class)), item("{'id': 'b1', 'pk': 'batch', 'n': 42}"));
        equal(read.getETag(), read.getItem(ObjectNode.class).get("_etag").asText());

        CosmosBatch failing = CosmosBatch.createCosmosBatch(key("batch"));
        failing.createItemOperation(item("{'id': 'b3', 'pk': 'batch'}"));
        failing.createItemOperation(item("{'id': 'b1', 'pk': 'batch'}"));
        CosmosBatchResponse failed = items.executeCosmosBatch(failing);
        check(!failed.isSuccessStatusCode(), "a conflict is no success");
        equal(codes(failed), List.of(424, 409));
        fails(404, () -> items.readItem("b3", key("batch"), ObjectNode.class));
        delete("b1", "batch");
        return "charge " + response.getRequestCharge() + "; conflict: 424, 409, rolled back";
    }

    private static List<Integer> codes(CosmosBatchResponse response) {
        return response.getResults().stream().map(CosmosBatchOperationResult::getStatusCode).toList();
    }

    private String patch() throws Exception {
        CosmosItemResponse<ObjectNode> created = items.createItem(
            item("{'id': 'p', 'pk': 'patch', 'n': 1, 'tags': ['a'], 'old': true}"));
        CosmosPatchOperations operations = CosmosPatchOperations.create()
            .set("/text", "new")
            .increment("/n", 2)
            .add("/tags/-", "b")
            .remove("/old");
        CosmosPatchItemRequestOptions options = new CosmosPatchItemRequestOptions();
        options.setFilterPredicate("FROM c WHERE c.n = 1");
        CosmosItemResponse<ObjectNode> patched = items.patchItem("p", key("patch"), operations, options, ObjectNode.class);
        equal(user(patched.getItem()), item("{'id': 'p', 'pk': 'patch', 'n': 3, 'tags': ['a', 'b'], 'text': 'new'}"));
        check(patched.getRequestCharge() > 0, "no charge");
        check(!patched.getETag().equals(created.getETag()), "the ETag has not changed");
        fails(412, () -> items.patchItem("p", key("patch"), operations, options, ObjectNode.class));
        delete("p", "patch");
        return "charge " + patched.getRequestCharge() + "; false condition: 412";
    }

    private String bulk() throws Exception {
        CosmosContainer container = newContainer(database, "bulk", "/pk");
        List<CosmosItemOperation> operations = new ArrayList<>();
        for (int n = 0; n < 100; n++) {
            ObjectNode one = JSON.createObjectNode().put("id", "" + n).put("pk", "key " + n % 20).put("n", n);
            operations.add(CosmosBulkOperations.getCreateItemOperation(one, key("key " + n % 20)));
        }
        List<Integer> written = new ArrayList<>();
        for (CosmosBulkOperationResponse<Object> one : container.executeBulkOperations(operations)) {
            equal(one.getResponse().getStatusCode(), 201);
            check(one.getResponse().getRequestCharge() > 0, "an operation has no charge");
            written.add(one.getResponse().getItem(ObjectNode.class).get("n").asInt());
        }
        equal(written.stream().sorted().toList(), IntStream.range(0, 100).boxed().toList());
        Map<String, Integer> again = new TreeMap<>();
        List<CosmosItemOperation> two = List.of(
            CosmosBulkOperations.getCreateItemOperation(item("{'id': '0', 'pk': 'key 0'}"), key("key 0")),
            CosmosBulkOperations.getDeleteItemOperation("1", key("key 1")));
        for (CosmosBulkOperationResponse<Object> one : container.executeBulkOperations(two)) {
            again.put(one.getOperation().getOperationType().toString(), one.getResponse().getStatusCode());
        }
        equal(again, Map.of("CREATE", 409, "DELETE", 204));
        List<Integer> rest = container
            .queryItems("SELECT VALUE c.n FROM c", new CosmosQueryRequestOptions(), Integer.class)
            .stream()
            .sorted()
            .toList();
        equal(rest, IntStream.range(0, 100).filter(n -> n != 1).boxed().toList());
        return "100 creates, then a conflict (409) and a delete";
    }

    private String changeFeed() throws Exception {
        List<ObjectNode> found = new ArrayList<>();
        CosmosChangeFeedRequestOptions start =
            CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forFullRange());
        String token = drain(start, found);
        equal(ids(found), SPREAD_IDS);
        found.clear();
        token = drain(CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(token), found);
        equal(found, List.of());
        ObjectNode changed = spread(3).put("changed", true);
        items.upsertItem(changed);
        drain(CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(token), found);
        equal(found.stream().map(Program::user).toList(), List.of(changed));
        return "24 items of " + items.getFeedRanges().size() + " ranges, then the changed one";
    }

    /** Add the changes to a list; return the token after them. */
    private String drain(CosmosChangeFeedRequestOptions options, List<ObjectNode> found) {
        String token = null;
        double charge = 0;
        Iterator<FeedResponse<ObjectNode>> pages =
            items.queryChangeFeed(options.setMaxItemCount(5), ObjectNode.class).iterableByPage().iterator();
        while (pages.hasNext()) {
            FeedResponse<ObjectNode> page = pages.next();
            found.addAll(page.getResults());
            token = page.getContinuationToken();
            charge += page.getRequestCharge();
        }
        check(charge > 0, "no charge");
        return token;
    }

    private String hierarchicalKeys() throws Exception {
        CosmosContainer container = newContainer(database, "hierarchical", "/tenant", "/user", "/session");
        for (String tenant : List.of("t1", "t2", "t3")) {
            for (String user : List.of("u1", "u2")) {
                for (int session = 0; session < 2; session++) {
                    String id = tenant + " " + user + " " + session;
                    container.createItem(
                        JSON.createObjectNode().put("id", id).put("tenant", tenant).put("user", user).put("session", session));
                }
            }
        }
        PartitionKey full = new PartitionKeyBuilder().add("t2").add("u1").add(1).build();
        CosmosItemResponse<ObjectNode> read = container.readItem("t2 u1 1", full, ObjectNode.class);
        equal(user(read.getItem()), item("{'id': 't2 u1 1', 'tenant': 't2', 'user': 'u1', 'session': 1}"));
        PartitionKey other = new PartitionKeyBuilder().add("t2").add("u1").add(0).build();
        fails(404, () -> container.readItem("t2 u1 1", other, ObjectNode.class));
        equal(idsOf(container, full), List.of("t2 u1 1"));
        equal(idsOf(container, new PartitionKeyBuilder().add("t2").add("u1").build()), List.of("t2 u1 0", "t2 u1 1"));
        List<String> tenant = List.of("t2 u1 0", "t2 u1 1", "t2 u2 0", "t2 u2 1");
        equal(idsOf(container, new PartitionKeyBuilder().add("t2").build()), tenant);
        return "12 items; full key, and prefixes of one and two levels";
    }

    private static List<String> idsOf(CosmosContainer container, PartitionKey key) {
        CosmosQueryRequestOptions options = new CosmosQueryRequestOptions().setPartitionKey(key);
        return ids(container.queryItems("SELECT * FROM c", options, ObjectNode.class).stream().toList());
    }

    /** Add a rule; return its number. */
    private static int fault(ObjectNode rule) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(ENDPOINT + "_emulator/faults"))
            .POST(HttpRequest.BodyPublishers.ofString(rule.toString()))
            .build();
        return JSON.readTree(HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body()).get("id").asInt();
    }

    /** Remove a rule; return how many requests it struck. */
    private static int struck(int number) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(ENDPOINT + "_emulator/faults/" + number)).DELETE().build();
        return JSON.readTree(HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body()).get("struck").asInt();
    }

    private String throttling() throws Exception {
        ObjectNode rule = JSON.createObjectNode().put("fault", 429).put("operation", "create");
        rule.put("database", database.getId()).put("retry-after-ms", 20);
        int fault = fault(rule.deepCopy().put("times", 2));
        long start = System.nanoTime();
        CosmosItemResponse<ObjectNode> created = items.createItem(item("{'id': 't', 'pk': 'throttled'}"));
        check(System.nanoTime() - start >= 38_000_000, "the SDK did not wait for x-ms-retry-after-ms");
        equal(created.getStatusCode(), 201);
        equal(struck(fault), 2);
        fault = fault(rule);
        ObjectNode never = item("{'id': 'never', 'pk': 'throttled'}");
        fails(429, () -> items.createItem(never));
        equal(struck(fault), 10);
        delete("t", "throttled");
        return "created after 2 retries; gives up after 9";
    }

    /** Make this process trust a certificate, as the options -Djavax.net.ssl.trustStore do. */
    private static void trust(Path certificate) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream file = Files.newInputStream(certificate)) {
            Certificate trusted = CertificateFactory.getInstance("X.509").generateCertificate(file);
            store.setCertificateEntry("cosmos-emulator", trusted);
        }
        Path path = Files.createTempFile("trust", ".p12");
        try (OutputStream file = Files.newOutputStream(path)) {
            store.store(file, "changeit".toCharArray());
        }
        path.toFile().deleteOnExit();
        System.setProperty("javax.net.ssl.trustStore", path.toString());
        System.setProperty("javax.net.ssl.trustStorePassword", "changeit");
    }

    private static String tls() throws Exception {
        try (CosmosClient client = newClient(System.getenv("COSMOS_TLS_ENDPOINT"))) {
            CosmosDatabase own = newDatabase(client);
            CosmosContainer container = newContainer(own, "items", "/pk");
            ObjectNode expected = item("{'id': 'a', 'pk': 'p'}");
            container.createItem(expected);
            equal(user(container.readItem("a", key("p"), ObjectNode.class).getItem()), expected);
            own.delete();
        }
        return "created and read; without the certificate: " + untrusted();
    }

    /** Return the error of a client without the emulator's certificate. */
    private static String untrusted() throws Exception {
        KeyStore system = KeyStore.getInstance(
            Path.of(System.getProperty("java.home"), "lib", "security", "cacerts").toFile(), "changeit".toCharArray());
        javax.net.ssl.TrustManagerFactory factory =
            javax.net.ssl.TrustManagerFactory.getInstance(javax.net.ssl.TrustManagerFactory.getDefaultAlgorithm());
        factory.init(system);
        javax.net.ssl.SSLContext context = javax.net.ssl.SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("COSMOS_TLS_ENDPOINT"))).build();
        try {
            HttpClient.newBuilder().sslContext(context).build().send(request, HttpResponse.BodyHandlers.discarding());
        } catch (SSLHandshakeException error) {
            return error.getClass().getSimpleName();
        }
        throw new AssertionError("a client without the certificate can read");
    }
}
