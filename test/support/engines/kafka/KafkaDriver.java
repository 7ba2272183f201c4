// The client of Kafka itself, for tests: takes a command as a line of JSON, and answers each by a line.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public final class KafkaDriver {
  private static final ObjectMapper json = new ObjectMapper();
  private static final List<AutoCloseable> open = new ArrayList<>();
  private static final Map<Map<String, Object>, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

  public static void main(String[] words) throws Exception {
    var servers = words[0];
    var admin = Admin.create(Map.of("bootstrap.servers", servers, "default.api.timeout.ms", "60000"));
    var reader = new BufferedReader(new InputStreamReader(System.in));
    for (var line = reader.readLine(); line != null; line = reader.readLine()) {
      var answer = json.createObjectNode();
      try {
        perform(admin, servers, json.readTree(line), answer);
        answer.put("ok", true);
      } catch (Exception error) {
        answer.put("ok", false).put("fault", String.valueOf(error));
      }
      System.out.println(json.writeValueAsString(answer));
    }
    System.exit(0);
  }

  private static void perform(Admin admin, String servers, JsonNode command, ObjectNode answer) throws Exception {
    var topic = command.path("topic").asText();
    switch (command.get("do").asText()) {
      case "create" -> {
        var settings = new HashMap<String, String>();
        command.path("settings").fields().forEachRemaining(each -> settings.put(each.getKey(), each.getValue().asText()));
        var replicas = Optional.of((short) command.path("replicas").asInt(1));
        var created = new NewTopic(topic, Optional.of(command.path("partitions").asInt(1)), replicas);
        admin.createTopics(List.of(created.configs(settings))).all().get();
      }
      case "delete" -> admin.deleteTopics(List.of(topic)).all().get();
      case "grow" -> admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(command.get("partitions").asInt()))).all().get();
      case "leaders" -> admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions()
        .forEach(each -> answer.put(String.valueOf(each.partition()), each.leader().id()));
      case "trim" -> {
        var at = new TopicPartition(topic, command.path("partition").asInt());
        admin.deleteRecords(Map.of(at, RecordsToDelete.beforeOffset(command.get("before").asLong()))).all().get();
      }
      case "allow" -> {
        var type = ResourceType.fromString(command.get("type").asText());
        var pattern = new ResourcePattern(type, command.get("name").asText(), PatternType.PREFIXED);
        var entry = new AccessControlEntry("User:" + command.get("user").asText(), "*", AclOperation.READ, AclPermissionType.ALLOW);
        admin.createAcls(List.of(new AclBinding(pattern, entry))).all().get();
      }
      case "group" -> admin.listConsumerGroupOffsets(command.get("group").asText()).partitionsToOffsetAndMetadata().get()
        .forEach((at, next) -> answer.put(at.topic() + "/" + at.partition(), next.offset()));
      case "join" -> join(servers, command.get("group").asText(), topic);
      case "produce" -> produce(servers, topic, command);
      default -> throw new IllegalArgumentException("unknown command");
    }
  }

  /** A member of the group, which stays one until this process ends. */
  private static void join(String servers, String group, String topic) {
    var consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", servers, "group.id", group),
      new ByteArrayDeserializer(), new ByteArrayDeserializer());
    open.add(consumer);
    consumer.subscribe(List.of(topic));
    while (consumer.assignment().isEmpty()) consumer.poll(Duration.ofMillis(100));
  }

  /** `end`: commit or abort of a transaction, or open, which leaves it so; absent without a transaction. */
  private static void produce(String servers, String topic, JsonNode command) throws Exception {
    // A request without an answer is sent again while the test that waits for it still has time.
    var settings = new HashMap<String, Object>(Map.of("bootstrap.servers", servers, "max.request.size", 67108864, "buffer.memory", 134217728L,
      "request.timeout.ms", 20000, "delivery.timeout.ms", 90000));
    command.path("settings").fields().forEachRemaining(each -> settings.put(each.getKey(), each.getValue().asText()));
    var end = command.path("end").asText("");
    var producer = end.isEmpty() ? producers.computeIfAbsent(settings, KafkaDriver::createProducer) : createProducer(settings);
    if (!end.isEmpty()) {
      producer.initTransactions();
      producer.beginTransaction();
    }
    var sent = new ArrayList<Future<RecordMetadata>>();
    for (var message : command.get("messages")) {
      var at = message.has("at") ? message.get("at").asLong() : null;
      var value = message.has("zeros") ? new byte[message.get("zeros").asInt()] : bytes(message.get("value"));
      var record = new ProducerRecord<>(topic, message.path("partition").asInt(0), at, bytes(message.get("key")), value);
      for (var header : message.path("headers")) record.headers().add(header.get(0).asText(), bytes(header.get(1)));
      sent.add(producer.send(record));
    }
    producer.flush();
    for (var each : sent) each.get();
    if (end.equals("commit")) producer.commitTransaction();
    if (end.equals("abort")) producer.abortTransaction();
    if (end.equals("open")) open.add(producer);
    else if (!end.isEmpty()) producer.close();
  }

  private static KafkaProducer<byte[], byte[]> createProducer(Map<String, Object> settings) {
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Base64; absent and null are no bytes. */
  private static byte[] bytes(JsonNode text) {
    return text == null || text.isNull() ? null : Base64.getDecoder().decode(text.asText());
  }
}
