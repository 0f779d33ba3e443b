import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Transactions of the Java client, by two producers in turn: what touch_loop.c does on librdkafka.
 *
 * Arguments: bootstrap servers, group, member id, generation, bytes of a record's value, topics. Each line of standard
 * input is an order: partitions touched, records of all together, transactions. The answer is one line of JSON with the
 * milliseconds of each transaction and the CPU seconds that this process used for them. The end of the input ends it.
 */
public final class TouchTransactions {
  private final List<KafkaProducer<byte[], byte[]>> producers = new ArrayList<>();
  private final List<String> topics;
  private final ConsumerGroupMetadata group;
  private final byte[] value;
  private long transactions = 0;

  private TouchTransactions(String servers, ConsumerGroupMetadata group, int recordBytes, List<String> topics) {
    this.group = group;
    this.topics = topics;
    value = new byte[recordBytes];
    Arrays.fill(value, (byte) 'x');
    for (int number = 0; number < 2; number++) {
      Properties properties = new Properties();
      properties.put("bootstrap.servers", servers);
      properties.put("transactional.id", "java-" + number);
      properties.put("compression.type", "lz4");
      // The flush ends the wait. Until then records are gathered, and a broker's partitions go in one request.
      properties.put("linger.ms", "50");
      KafkaProducer<byte[], byte[]> producer =
          new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
      producer.initTransactions();
      for (String topic : topics) producer.partitionsFor(topic);
      producers.add(producer);
    }
  }

  private void commitOne(int partitions, int records) {
    KafkaProducer<byte[], byte[]> producer = producers.get((int) (transactions % producers.size()));
    transactions++;
    producer.beginTransaction();
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (int place = 0; place < partitions; place++) {
      String topic = topics.get(place % topics.size());
      int partition = place / topics.size();
      int count = records / partitions + (place < records % partitions ? 1 : 0);
      for (int index = 0; index < count; index++) {
        producer.send(new ProducerRecord<>(topic, partition, null, value));
      }
      if (place % topics.size() == 0) {
        offsets.put(new TopicPartition(topic, partition), new OffsetAndMetadata(transactions));
      }
    }
    producer.flush();
    producer.sendOffsetsToTransaction(offsets, group);
    producer.commitTransaction();
  }

  private String run(int partitions, int records, int count) {
    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long[] nanoseconds = new long[count];
    long processor = system.getProcessCpuTime();
    for (int number = 0; number < count; number++) {
      long start = System.nanoTime();
      commitOne(partitions, records);
      nanoseconds[number] = System.nanoTime() - start;
    }
    double cpuSeconds = (system.getProcessCpuTime() - processor) / 1e9;
    StringBuilder json = new StringBuilder("{\"cpuSeconds\":").append(cpuSeconds).append(",\"latencies\":[");
    for (int number = 0; number < count; number++) {
      json.append(number == 0 ? "" : ",").append(nanoseconds[number] / 1e6);
    }
    return json.append("]}").toString();
  }

  // The only way to commit for a member that is not this process's own consumer.
  @SuppressWarnings("removal")
  public static void main(String[] arguments) throws Exception {
    ConsumerGroupMetadata group = new ConsumerGroupMetadata(
        arguments[1], Integer.parseInt(arguments[3]), arguments[2], Optional.empty());
    TouchTransactions client = new TouchTransactions(
        arguments[0], group, Integer.parseInt(arguments[4]),
        Arrays.asList(arguments).subList(5, arguments.length));
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      String[] order = line.split(" ");
      System.out.println(
          client.run(Integer.parseInt(order[0]), Integer.parseInt(order[1]), Integer.parseInt(order[2])));
    }
    client.producers.forEach(KafkaProducer::close);
  }
}
