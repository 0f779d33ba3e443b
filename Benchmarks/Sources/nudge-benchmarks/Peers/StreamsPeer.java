import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * What one would build instead of Nudge's ingest and analyzer: Kafka Streams, exactly once, with a simpler fan-out and decision.
 *
 * <p>Arguments: stage (fanout or decide), bootstrap servers, application id, state directory, prefix of its topics, input topic,
 * partitions, commit interval in milliseconds, threads. Records are JSON as Nudge's are; rows of state are binary. Standard
 * output has a line once it runs, and one every 100 ms in which records were committed. SIGTERM ends it with status 0.
 */
public final class StreamsPeer {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonFactory JSON = MAPPER.getFactory();
  private static final LongAdder RECORDS = new LongAdder();
  private static final LongAdder OUTPUTS = new LongAdder();
  private static final LongAdder ROWS = new LongAdder();

  public static void main(String[] arguments) throws Exception {
    String stage = arguments[0];
    String prefix = arguments[4];
    int partitions = Integer.parseInt(arguments[6]);
    int interval = Integer.parseInt(arguments[7]);
    Properties properties = new Properties();
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[1]);
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments[2]);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, arguments[3]);
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, interval);
    properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, arguments[8]);
    properties.put("auto.offset.reset", "earliest");
    properties.put("producer.compression.type", "lz4");
    // A transaction's records leave when it is committed, or when a batch is full: so its batches are as large as can be.
    properties.put("producer.linger.ms", String.valueOf(Math.min(interval, 100)));
    Topology topology =
        stage.equals("fanout")
            ? fanOut(arguments[5], prefix + "timeline", partitions)
            : decide(arguments[5], prefix + "decisions", prefix + "pushes");
    KafkaStreams streams = new KafkaStreams(topology, properties);
    streams.setUncaughtExceptionHandler(
        failure -> {
          System.out.println("{\"level\":\"error\",\"message\":" + quoted(String.valueOf(failure)) + "}");
          return org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse
              .SHUTDOWN_APPLICATION;
        });
    streams.setStateListener(
        (now, before) -> {
          if (now == KafkaStreams.State.RUNNING) System.out.println("{\"message\":\"ready\",\"ready\":true}");
        });
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  streams.close(java.time.Duration.ofSeconds(30));
                  Runtime.getRuntime().halt(0);
                }));
    streams.start();
    report(interval);
  }

  /** Streams does not tell of commits: what was processed this long ago is committed. */
  private static void report(int interval) throws InterruptedException {
    long tick = 100;
    long ago = (2 * interval + tick) / tick + 1;
    ArrayDeque<long[]> samples = new ArrayDeque<>();
    long[] told = new long[3];
    while (true) {
      Thread.sleep(tick);
      samples.add(new long[] {RECORDS.sum(), OUTPUTS.sum(), ROWS.sum()});
      if (samples.size() <= ago) continue;
      long[] now = samples.remove();
      if (now[0] == told[0]) continue;
      System.out.println(
          "{\"message\":\"committed\",\"records\":" + (now[0] - told[0]) + ",\"outputs\":" + (now[1] - told[1])
              + ",\"rows\":" + (now[2] - told[2]) + "}");
      told = now;
    }
  }

  private static String quoted(String text) {
    return MAPPER.getNodeFactory().textNode(text).toString();
  }

  private static StoreBuilder<KeyValueStore<String, byte[]>> store(String name) {
    boolean hasRocksDB;
    try {
      Class.forName("org.rocksdb.RocksDB");
      hasRocksDB = true;
    } catch (ClassNotFoundException missing) {
      hasRocksDB = false;
    }
    return Stores.keyValueStoreBuilder(
        hasRocksDB ? Stores.persistentKeyValueStore(name) : Stores.inMemoryKeyValueStore(name), Serdes.String(),
        Serdes.ByteArray());
  }

  private static void put(KeyValueStore<String, byte[]> store, String key, byte[] row) {
    store.put(key, row);
    ROWS.increment();
  }

  // Fan-out

  /** A record that knows its partition. */
  private record Routed(int partition, byte[] value) {}

  private static Topology fanOut(String input, String output, int partitions) {
    StreamPartitioner<String, Routed> byRoute =
        (topic, key, routed, count) -> Optional.of(Collections.singleton(routed.partition()));
    return new Topology()
        .addSource("events", new ByteArrayDeserializer(), new ByteArrayDeserializer(), input)
        .addProcessor("fanout", () -> new FanOut(partitions), "events")
        .addStateStore(store("members"), "fanout")
        .addStateStore(store("talk"), "fanout")
        .addSink("timeline", output, new StringSerializer(), (topic, routed) -> routed.value(), byRoute, "fanout");
  }

  private static final class FanOut implements Processor<byte[], byte[], String, Routed> {
    private static final int REMEMBERED = 16;
    private final int partitions;
    private ProcessorContext<String, Routed> context;
    private KeyValueStore<String, byte[]> members;
    private KeyValueStore<String, byte[]> talk;

    FanOut(int partitions) {
      this.partitions = partitions;
    }

    @Override
    public void init(ProcessorContext<String, Routed> context) {
      this.context = context;
      members = context.getStateStore("members");
      talk = context.getStateStore("talk");
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
      try {
        JsonNode event = MAPPER.readTree(record.value());
        switch (event.path("type").asText()) {
          case "conversation.updated" -> update(event);
          case "message.created" -> send(event, record.timestamp());
          default -> {}
        }
      } catch (IOException failure) {
        throw new IllegalStateException(failure);
      }
      RECORDS.increment();
    }

    private void update(JsonNode event) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream row = new DataOutputStream(bytes);
      row.writeUTF(event.path("kind").asText());
      row.writeUTF(event.path("name").asText());
      row.writeInt(event.path("members").size());
      for (JsonNode member : event.path("members")) {
        row.writeUTF(member.path("userId").asText());
        row.writeUTF(member.path("displayName").asText());
      }
      put(members, event.path("conversationId").asText(), bytes.toByteArray());
    }

    private void send(JsonNode event, long timestamp) throws IOException {
      String conversation = event.path("conversationId").asText();
      byte[] known = members.get(conversation);
      if (known == null) return;
      DataInputStream row = new DataInputStream(new ByteArrayInputStream(known));
      String kind = row.readUTF();
      String name = row.readUTF();
      int count = row.readInt();
      String sender = event.path("senderId").asText();
      String senderName = sender;
      Map<Integer, List<String>> routes = new HashMap<>();
      Map<String, Long> spoke = heard(conversation, sender, event.path("occurredAt").asLong());
      for (int index = 0; index < count; index++) {
        String user = row.readUTF();
        String display = row.readUTF();
        if (user.equals(sender)) senderName = display;
        else routes.computeIfAbsent(partition(user), any -> new ArrayList<>()).add(user);
      }
      String text = event.path("text").asText();
      for (Map.Entry<Integer, List<String>> route : routes.entrySet()) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
          json.writeStartObject();
          json.writeNumberField("schemaVersion", 1);
          json.writeStringField("type", "message.candidate");
          json.writeStringField("eventId", event.path("eventId").asText());
          json.writeNumberField("occurredAt", event.path("occurredAt").asLong());
          origin(json);
          json.writeStringField("conversationId", conversation);
          json.writeStringField("messageId", event.path("messageId").asText());
          json.writeObjectFieldStart("sender");
          json.writeStringField("userId", sender);
          json.writeStringField("displayName", senderName);
          json.writeEndObject();
          json.writeObjectFieldStart("conversation");
          json.writeStringField("kind", kind);
          json.writeNumberField("memberCount", count);
          json.writeEndObject();
          json.writeStringField("title", kind.equals("direct") ? senderName : name);
          json.writeStringField("body", text);
          json.writeArrayFieldStart("recipients");
          for (String user : route.getValue()) {
            json.writeStartObject();
            json.writeStringField("userId", user);
            json.writeObjectFieldStart("context");
            json.writeBooleanField("mentioned", text.contains("@" + user));
            Long at = spoke.get(user);
            if (at != null) json.writeNumberField("lastSpokeAt", at);
            json.writeEndObject();
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        }
        forward(conversation, route.getKey(), bytes.toByteArray(), timestamp);
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
      try (JsonGenerator json = JSON.createGenerator(bytes)) {
        json.writeStartObject();
        json.writeNumberField("schemaVersion", 1);
        json.writeStringField("type", "message.sent");
        json.writeStringField("eventId", event.path("eventId").asText());
        json.writeNumberField("occurredAt", event.path("occurredAt").asLong());
        origin(json);
        json.writeStringField("userId", sender);
        json.writeStringField("conversationId", conversation);
        json.writeStringField("messageId", event.path("messageId").asText());
        json.writeEndObject();
      }
      forward(sender, partition(sender), bytes.toByteArray(), timestamp);
    }

    /** Who wrote last in the conversation, and when. Remembers this message. */
    private Map<String, Long> heard(String conversation, String sender, long at) throws IOException {
      Map<String, Long> spoke = new HashMap<>();
      List<String> senders = new ArrayList<>();
      List<Long> times = new ArrayList<>();
      byte[] known = talk.get(conversation);
      if (known != null) {
        DataInputStream row = new DataInputStream(new ByteArrayInputStream(known));
        for (int left = row.readInt(); left > 0; left--) {
          senders.add(row.readUTF());
          times.add(row.readLong());
          spoke.put(senders.get(senders.size() - 1), times.get(times.size() - 1));
        }
      }
      senders.add(sender);
      times.add(at);
      int first = Math.max(0, senders.size() - REMEMBERED);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream row = new DataOutputStream(bytes);
      row.writeInt(senders.size() - first);
      for (int index = first; index < senders.size(); index++) {
        row.writeUTF(senders.get(index));
        row.writeLong(times.get(index));
      }
      put(talk, conversation, bytes.toByteArray());
      return spoke;
    }

    private void origin(JsonGenerator json) throws IOException {
      var place = context.recordMetadata().orElseThrow();
      json.writeObjectFieldStart("origin");
      json.writeStringField("topic", place.topic());
      json.writeNumberField("partition", place.partition());
      json.writeNumberField("offset", place.offset());
      json.writeEndObject();
    }

    private int partition(String user) {
      return Utils.toPositive(Utils.murmur2(user.getBytes(StandardCharsets.UTF_8))) % partitions;
    }

    private void forward(String key, int partition, byte[] value, long timestamp) {
      context.forward(new Record<>(key, new Routed(partition, value), timestamp));
      OUTPUTS.increment();
    }
  }

  // Decisions

  private static Topology decide(String input, String decisions, String pushes) {
    return new Topology()
        .addSource("timeline", new ByteArrayDeserializer(), new ByteArrayDeserializer(), input)
        .addProcessor("decide", Decide::new, "timeline")
        .addStateStore(store("people"), "decide")
        .addStateStore(store("preferences"), "decide")
        .addStateStore(store("devices"), "decide")
        .addStateStore(store("conversations"), "decide")
        .addSink("decisions", decisions, new StringSerializer(), new ByteArraySerializer(), "decide")
        .addSink("pushes", pushes, new StringSerializer(), new ByteArraySerializer(), "decide");
  }

  /** The state of a person that changes with every message. */
  private static final class Person {
    long windowStart;
    int used;
    int unreadConversations;
    int unread;
    final List<String> devices = new ArrayList<>();

    static Person of(byte[] bytes) throws IOException {
      Person person = new Person();
      if (bytes == null) return person;
      DataInputStream row = new DataInputStream(new ByteArrayInputStream(bytes));
      person.windowStart = row.readLong();
      person.used = row.readInt();
      person.unreadConversations = row.readInt();
      person.unread = row.readInt();
      for (int left = row.readInt(); left > 0; left--) person.devices.add(row.readUTF());
      return person;
    }

    byte[] bytes() throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
      DataOutputStream row = new DataOutputStream(bytes);
      row.writeLong(windowStart);
      row.writeInt(used);
      row.writeInt(unreadConversations);
      row.writeInt(unread);
      row.writeInt(devices.size());
      for (String device : devices) row.writeUTF(device);
      return bytes.toByteArray();
    }
  }

  /** A person's part in a conversation: the last messages, and what is unread. */
  private static final class Conversation {
    private static final int REMEMBERED = 32;
    long lastOffset = -1;
    long spokeAt;
    int unread;
    final List<long[]> recent = new ArrayList<>();

    static Conversation of(byte[] bytes) throws IOException {
      Conversation conversation = new Conversation();
      if (bytes == null) return conversation;
      DataInputStream row = new DataInputStream(new ByteArrayInputStream(bytes));
      conversation.lastOffset = row.readLong();
      conversation.spokeAt = row.readLong();
      conversation.unread = row.readInt();
      for (int left = row.readInt(); left > 0; left--) {
        conversation.recent.add(new long[] {row.readLong(), row.readLong(), row.readByte()});
      }
      return conversation;
    }

    void add(long key, long at, long marks) {
      recent.add(new long[] {key, at, marks});
      if (recent.size() > REMEMBERED) recent.remove(0);
    }

    byte[] bytes() throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
      DataOutputStream row = new DataOutputStream(bytes);
      row.writeLong(lastOffset);
      row.writeLong(spokeAt);
      row.writeInt(unread);
      row.writeInt(recent.size());
      for (long[] message : recent) {
        row.writeLong(message[0]);
        row.writeLong(message[1]);
        row.writeByte((int) message[2]);
      }
      return bytes.toByteArray();
    }
  }

  private static final class Decide implements Processor<byte[], byte[], String, byte[]> {
    private static final int ANALYSES = 10;
    private static final long HOUR = 3_600_000;
    private ProcessorContext<String, byte[]> context;
    private KeyValueStore<String, byte[]> people;
    private KeyValueStore<String, byte[]> preferences;
    private KeyValueStore<String, byte[]> devices;
    private KeyValueStore<String, byte[]> conversations;

    @Override
    public void init(ProcessorContext<String, byte[]> context) {
      this.context = context;
      people = context.getStateStore("people");
      preferences = context.getStateStore("preferences");
      devices = context.getStateStore("devices");
      conversations = context.getStateStore("conversations");
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
      try {
        JsonNode event = MAPPER.readTree(record.value());
        switch (event.path("type").asText()) {
          case "device.registered" -> gain(event);
          case "preferences.updated" ->
              put(preferences, event.path("userId").asText(), MAPPER.writeValueAsBytes(event.path("preferences")));
          case "message.sent" -> wrote(event);
          case "message.candidate" -> {
            for (JsonNode recipient : event.path("recipients")) decide(event, recipient, record.timestamp());
          }
          default -> {}
        }
      } catch (IOException failure) {
        throw new IllegalStateException(failure);
      }
      RECORDS.increment();
    }

    private void gain(JsonNode event) throws IOException {
      String user = event.path("userId").asText();
      String device = event.path("deviceId").asText();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
      DataOutputStream row = new DataOutputStream(bytes);
      row.writeUTF(event.path("token").asText());
      row.writeUTF(event.path("platform").asText());
      row.writeLong(event.path("version").asLong());
      row.writeUTF(event.path("appVersion").asText());
      row.writeUTF(event.path("locale").asText());
      put(devices, user + "/" + device, bytes.toByteArray());
      Person person = Person.of(people.get(user));
      if (!person.devices.contains(device)) person.devices.add(device);
      put(people, user, person.bytes());
    }

    private void wrote(JsonNode event) throws IOException {
      String user = event.path("userId").asText();
      String key = user + "/" + event.path("conversationId").asText();
      Conversation conversation = Conversation.of(conversations.get(key));
      Person person = Person.of(people.get(user));
      if (conversation.unread > 0) person.unreadConversations--;
      person.unread -= conversation.unread;
      conversation.unread = 0;
      conversation.spokeAt = event.path("occurredAt").asLong();
      put(conversations, key, conversation.bytes());
      put(people, user, person.bytes());
    }

    /** A check's name and whether it let the message pass. */
    private record Check(String name, boolean passed) {}

    private void decide(JsonNode event, JsonNode recipient, long timestamp) throws IOException {
      String user = recipient.path("userId").asText();
      String conversationId = event.path("conversationId").asText();
      String messageId = event.path("messageId").asText();
      String key = user + "/" + conversationId;
      long at = event.path("occurredAt").asLong();
      Conversation conversation = Conversation.of(conversations.get(key));
      long offset = event.path("origin").path("offset").asLong();
      if (offset <= conversation.lastOffset) return;
      conversation.lastOffset = offset;
      Person person = Person.of(people.get(user));
      byte[] set = preferences.get(user);
      JsonNode wishes = set == null ? MAPPER.createObjectNode() : MAPPER.readTree(set);

      List<Check> checks = new ArrayList<>();
      long message = hash(messageId);
      boolean passes = check(checks, "duplicate", conversation.recent.stream().noneMatch(it -> it[0] == message));
      passes = passes && check(checks, "notifications_disabled", wishes.path("enabled").asBoolean(true));
      passes = passes && check(checks, "conversation_muted", !isMuted(wishes, conversationId, timestamp));
      passes = passes && check(checks, "already_read", conversation.spokeAt < at);
      passes = passes && check(checks, "expired", timestamp - at < 24 * HOUR);
      String reason = passes ? "relevant" : checks.get(checks.size() - 1).name();
      double score = 0;
      if (passes) {
        if (timestamp - person.windowStart >= HOUR) {
          person.windowStart = timestamp;
          person.used = 0;
        }
        if (person.used < ANALYSES) {
          person.used++;
          score = score(event, recipient, wishes);
          passes = check(checks, "priority", score >= 0.3);
          if (!passes) reason = "low_relevance";
        } else {
          reason = wishes.path("fallback").asText("simple_rules");
          passes = check(checks, "analysis_limit", reason.equals("notify_all") || score(event, recipient, wishes) > 0.6);
        }
      }
      passes = passes && check(checks, "quiet_hours", !wishes.has("quietHours"));
      List<String> reachable = passes ? person.devices : List.of();
      passes = passes && check(checks, "no_device", !reachable.isEmpty());

      if (conversation.unread == 0) person.unreadConversations++;
      conversation.unread++;
      person.unread++;
      conversation.add(message, at, passes ? 3 : 1);
      put(conversations, key, conversation.bytes());
      put(people, user, person.bytes());
      writeDecision(event, user, passes, reason, score, checks, person.unreadConversations, timestamp);
      if (passes) writePush(event, user, reachable, person.unreadConversations, timestamp);
    }

    private static boolean check(List<Check> checks, String name, boolean passed) {
      checks.add(new Check(name, passed));
      return passed;
    }

    private static boolean isMuted(JsonNode wishes, String conversation, long now) {
      for (JsonNode muted : wishes.path("muted")) {
        if (muted.path("conversationId").asText().equals(conversation)) {
          return muted.path("until").asLong(Long.MAX_VALUE) > now;
        }
      }
      return false;
    }

    private static double score(JsonNode event, JsonNode recipient, JsonNode wishes) {
      JsonNode about = recipient.path("context");
      String text = event.path("body").asText().toLowerCase();
      double score = event.path("conversation").path("kind").asText().equals("direct") ? 0.5 : 0.1;
      if (about.path("mentioned").asBoolean()) score += 0.5;
      if (about.path("named").asBoolean()) score += 0.3;
      if (about.path("answered").asBoolean()) score += 0.3;
      if (about.has("lastSpokeAt")) score += 0.1;
      if (text.contains("?")) score += 0.1;
      if (text.contains("urgent")) score += 0.3;
      for (JsonNode word : wishes.path("keywords")) if (text.contains(word.asText())) score += 0.4;
      return Math.min(score, 1);
    }

    private static long hash(String text) {
      long hash = 0xcbf29ce484222325L;
      for (byte next : text.getBytes(StandardCharsets.UTF_8)) hash = (hash ^ (next & 0xff)) * 0x100000001b3L;
      return hash;
    }

    private void origin(JsonGenerator json) throws IOException {
      var place = context.recordMetadata().orElseThrow();
      json.writeObjectFieldStart("origin");
      json.writeStringField("topic", place.topic());
      json.writeNumberField("partition", place.partition());
      json.writeNumberField("offset", place.offset());
      json.writeEndObject();
    }

    private void writeDecision(
        JsonNode event, String user, boolean notifies, String reason, double score, List<Check> checks, int badge,
        long now)
        throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
      try (JsonGenerator json = JSON.createGenerator(bytes)) {
        json.writeStartObject();
        json.writeNumberField("schemaVersion", 1);
        json.writeStringField("type", "decision");
        json.writeStringField("eventId", event.path("eventId").asText() + "/decision");
        json.writeNumberField("occurredAt", event.path("occurredAt").asLong());
        origin(json);
        json.writeStringField("userId", user);
        json.writeStringField("messageId", event.path("messageId").asText());
        json.writeStringField("conversationId", event.path("conversationId").asText());
        json.writeStringField("outcome", notifies ? "notify" : "suppress");
        json.writeStringField("reason", reason);
        json.writeStringField("text", (notifies ? "Notified: " : "Suppressed: ") + reason + ".");
        json.writeNumberField("score", score);
        json.writeArrayFieldStart("checks");
        for (Check check : checks) {
          json.writeStartObject();
          json.writeStringField("check", check.name());
          json.writeStringField("result", check.passed() ? "pass" : "suppress");
          json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("badge", badge);
        json.writeNumberField("decidedAt", now);
        json.writeEndObject();
      }
      context.forward(new Record<>(user, bytes.toByteArray(), now), "decisions");
      OUTPUTS.increment();
    }

    private void writePush(JsonNode event, String user, List<String> reachable, int badge, long now)
        throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
      try (JsonGenerator json = JSON.createGenerator(bytes)) {
        json.writeStartObject();
        json.writeNumberField("schemaVersion", 1);
        json.writeStringField("type", "push");
        json.writeStringField("eventId", event.path("eventId").asText() + "/push");
        json.writeNumberField("occurredAt", event.path("occurredAt").asLong());
        origin(json);
        json.writeStringField("pushId", Long.toHexString(hash(user + event.path("messageId").asText())));
        json.writeStringField("userId", user);
        json.writeArrayFieldStart("targets");
        for (String device : reachable) {
          byte[] found = devices.get(user + "/" + device);
          if (found == null) continue;
          DataInputStream row = new DataInputStream(new ByteArrayInputStream(found));
          json.writeStartObject();
          json.writeStringField("deviceId", device);
          json.writeStringField("token", row.readUTF());
          json.writeStringField("platform", row.readUTF());
          json.writeNumberField("version", row.readLong());
          json.writeEndObject();
        }
        json.writeEndArray();
        json.writeStringField("title", event.path("title").asText());
        json.writeStringField("body", event.path("body").asText());
        json.writeNumberField("badge", badge);
        json.writeStringField("conversationId", event.path("conversationId").asText());
        json.writeStringField("messageId", event.path("messageId").asText());
        json.writeNumberField("expiresAt", now + 24 * HOUR);
        json.writeEndObject();
      }
      context.forward(new Record<>(user, bytes.toByteArray(), now), "pushes");
      OUTPUTS.increment();
    }
  }
}
