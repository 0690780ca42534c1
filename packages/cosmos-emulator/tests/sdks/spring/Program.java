import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.models.PartitionKey;
import com.azure.spring.data.cosmos.config.AbstractCosmosConfiguration;
import com.azure.spring.data.cosmos.core.CosmosTemplate;
import com.azure.spring.data.cosmos.core.mapping.Container;
import com.azure.spring.data.cosmos.core.query.CosmosPageRequest;
import com.azure.spring.data.cosmos.exception.CosmosPreconditionFailedException;
import com.azure.spring.data.cosmos.repository.CosmosRepository;
import com.azure.spring.data.cosmos.repository.Query;
import com.azure.spring.data.cosmos.repository.config.EnableCosmosRepositories;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.annotation.Id;
import org.springframework.data.annotation.Version;
import org.springframework.data.domain.Sort;
import org.springframework.data.repository.query.Param;

/** Uses Spring Data's repository of Cosmos DB, and prints one line of JSON for each scenario. */
public class Program {
    @Container(containerName = "orders", partitionKeyPath = "/customer", ru = "400")
    public static class Order {
        @Id public String id;
        public String customer;
        public int total;
        @Version public String etag;

        public Order() {}

        Order(String id, String customer, int total) {
            this.id = id;
            this.customer = customer;
            this.total = total;
        }
    }

    public interface Orders extends CosmosRepository<Order, String> {
        Iterable<Order> findByTotalGreaterThanOrderByTotalDesc(int total);

        long countByCustomer(String customer);

        boolean existsByCustomerAndTotal(String customer, int total);

        @Query("SELECT VALUE SUM(c.total) FROM c WHERE c.customer = @customer")
        List<Long> sumOf(@Param("customer") String customer);
    }

    @Configuration
    @EnableCosmosRepositories(considerNestedRepositories = true, basePackageClasses = Program.class)
    public static class Settings extends AbstractCosmosConfiguration {
        @Bean
        public CosmosClientBuilder client() {
            return new CosmosClientBuilder()
                    .endpoint(System.getenv("COSMOS_ENDPOINT")).key(System.getenv("COSMOS_KEY")).gatewayMode();
        }

        @Override
        protected String getDatabaseName() {
            return "shop";
        }
    }

    private static boolean failed;

    public static void main(String[] args) {
        System.setProperty("COSMOS.HTTP_CONNECTION_WITHOUT_TLS_ALLOWED", "true");
        try (var context = new AnnotationConfigApplicationContext(Settings.class)) {
            Orders orders = context.getBean(Orders.class);
            scenario("save all and count", 12L, () -> {
                orders.saveAll(IntStream.range(0, 12).mapToObj(n -> new Order("o" + n, "c" + n % 3, n)).toList());
                return orders.count();
            });
            scenario("point read", 7, () -> orders.findById("o7", new PartitionKey("c1")).orElseThrow().total);
            scenario("derived query", List.of(11, 10, 9), () -> totals(orders.findByTotalGreaterThanOrderByTotalDesc(8)));
            scenario("count and exists", List.of(4L, true), () ->
                    List.of(orders.countByCustomer("c2"), orders.existsByCustomerAndTotal("c0", 3)));
            scenario("annotated query", List.of(18L), () -> orders.sumOf("c0"));
            scenario("pages", List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), () -> {
                var page = orders.findAll(new CosmosPageRequest(0, 5, null, Sort.by("total")));
                List<Integer> found = new ArrayList<>(totals(page));
                while (page.hasNext()) {
                    page = orders.findAll(page.nextPageable());
                    found.addAll(totals(page));
                }
                return found;
            });
            scenario("a stale version", "refused", () -> {
                Order stale = orders.findById("o1", new PartitionKey("c1")).orElseThrow();
                Order current = orders.findById("o1", new PartitionKey("c1")).orElseThrow();
                current.total = 100;
                orders.save(current);
                try {
                    orders.save(stale);
                    return "saved";
                } catch (CosmosPreconditionFailedException refused) {
                    return "refused";
                }
            });
            scenario("delete", 11L, () -> {
                orders.deleteById("o2", new PartitionKey("c2"));
                return orders.count();
            });
        }
        System.exit(failed ? 1 : 0);
    }

    private static List<Integer> totals(Iterable<Order> orders) {
        List<Integer> totals = new ArrayList<>();
        orders.forEach(order -> totals.add(order.total));
        return totals;
    }

    private static void scenario(String name, Object expected, Callable<?> run) {
        String found;
        try {
            Object got = run.call();
            found = Objects.equals(got, expected) ? null : "expected " + expected + ", got " + got;
        } catch (Exception error) {
            found = String.valueOf(error);
        }
        failed |= found != null;
        System.out.println("{\"scenario\": \"" + name + "\", \"result\": \"" + (found == null ? "passed" : "failed")
                + "\", \"detail\": \"" + (found == null ? "" : found.replaceAll("[\\\\\"\\p{Cntrl}]", " ")) + "\"}");
    }
}
