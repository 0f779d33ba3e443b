import Testing

@testable import KafkaTransactions

/// Whole answers (correlation 1, without their lengths) as a broker writes them, and how each is read.
struct AnswerSample: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  /// Reads bytes as an answer to the request, and says what it read.
  let decode: @Sendable ([UInt8]) throws(WireError) -> String

  var testDescription: String { name }

  private init<R: WireRequest & SendableMetatype>(_: R.Type, _ write: (inout WireWriter) -> Void) {
    name = R.name
    var writer = WireWriter()
    writer.int32(1)
    if R.hasFlexibleAnswer { writer.noTags() }
    write(&writer)
    bytes = writer.bytes
    decode = { (bytes) throws(WireError) in "\(try WireFrame.decode(R.self, bytes, correlation: 1).content)" }
  }

  static let all: [AnswerSample] = [
    AnswerSample(APIVersionsRequest.self) { writer in
      writer.int16(0)
      writer.array([(0, 0, 13), (3, 0, 13), (26, 0, 5)] as [(Int16, Int16, Int16)]) { writer, api in
        writer.int16(api.0)
        writer.int16(api.1)
        writer.int16(api.2)
        writer.noTags()
      }
      writer.int32(0)
      var features = WireWriter()
      features.array(["metadata.version", "transaction.version"]) { writer, name in
        writer.text(name)
        writer.int16(2)
        writer.int16(0)
        writer.noTags()
      }
      writer.unsignedVarint(2)
      writer.unsignedVarint(1)
      writer.unsignedVarint(8)
      writer.int64(77)
      writer.unsignedVarint(2)
      writer.unsignedVarint(features.bytes.count)
      writer.raw(features.bytes)
    },
    AnswerSample(SASLHandshakeRequest.self) { writer in
      writer.int16(33)
      writer.int32(2)
      writer.oldText("PLAIN")
      writer.oldText("SCRAM-SHA-256")
    },
    AnswerSample(DescribeGroupsRequest.self) { writer in
      writer.int32(0)
      writer.array(["nudge-analyzer"]) { writer, group in
        writer.int16(0)
        writer.text(group)
        for text in ["Stable", "consumer", "range"] { writer.text(text) }
        writer.array(["a", "b"]) { writer, member in
          writer.text(member)
          writer.text(member == "a" ? "slot1" : nil)
          writer.text("client")
          writer.text("/10.0.0.7")
          writer.data([1, 2, 3])
          writer.data([])
          writer.noTags()
        }
        writer.int32(1 << 3 | 1 << 8)
        writer.noTags()
      }
      writer.noTags()
    },
    AnswerSample(SASLAuthenticateRequest.self) { writer in
      writer.int16(58)
      writer.text("wrong")
      writer.data([1, 2, 3])
      writer.int64(3_600_000)
      writer.noTags()
    },
    AnswerSample(MetadataRequest.self) { writer in
      writer.int32(0)
      writer.array([(1, "a.example"), (2, "b.example")] as [(Int32, String)]) { writer, broker in
        writer.int32(broker.0)
        writer.text(broker.1)
        writer.int32(9092)
        writer.text(nil)
        writer.noTags()
      }
      writer.text("cluster")
      writer.int32(1)
      writer.array(["nudge.pushes", "nudge.decisions"]) { writer, topic in
        writer.int16(0)
        writer.text(topic)
        writer.int64(5)
        writer.int64(6)
        writer.bool(false)
        writer.array([0, 1, 2] as [Int32]) { writer, partition in
          writer.int16(0)
          writer.int32(partition)
          writer.int32(1 + partition % 2)
          writer.int32(4)
          writer.array([1, 2] as [Int32]) { $0.int32($1) }
          writer.array([1] as [Int32]) { $0.int32($1) }
          writer.array([] as [Int32]) { $0.int32($1) }
          writer.noTags()
        }
        writer.int32(.min)
        writer.noTags()
      }
      writer.noTags()
    },
    AnswerSample(FindCoordinatorRequest.self) { writer in
      writer.int32(0)
      writer.array(["nudge-analyzer"]) { writer, id in
        writer.text(id)
        writer.int32(3)
        writer.text("c.example")
        writer.int32(9094)
        writer.int16(0)
        writer.text(nil)
        writer.noTags()
      }
      writer.noTags()
    },
    AnswerSample(DescribeProducersRequest.self) { writer in
      writer.int32(0)
      writer.array(["nudge.pushes", "__consumer_offsets"]) { writer, topic in
        writer.text(topic)
        writer.array([(0, 0), (1, 6)] as [(Int32, Int16)]) { writer, partition in
          writer.int32(partition.0)
          writer.int16(partition.1)
          writer.text(nil)
          writer.array([(4001, -1), (4002, 77)] as [(Int64, Int64)]) { writer, producer in
            writer.int64(producer.0)
            writer.int32(7)
            writer.int32(0)
            writer.int64(1_700_000_000_000)
            writer.int32(3)
            writer.int64(producer.1)
            writer.noTags()
          }
          writer.noTags()
        }
        writer.noTags()
      }
      writer.noTags()
    },
    AnswerSample(WriteTxnMarkersRequest.self) { writer in
      writer.array([4001] as [Int64]) { writer, producer in
        writer.int64(producer)
        writer.array(["nudge.pushes"]) { writer, topic in
          writer.text(topic)
          writer.array([(2, 47)] as [(Int32, Int16)]) { writer, partition in
            writer.int32(partition.0)
            writer.int16(partition.1)
            writer.noTags()
          }
          writer.noTags()
        }
        writer.noTags()
      }
      writer.noTags()
    },
    AnswerSample(InitProducerIDRequest.self) { writer in
      writer.int32(0)
      writer.int16(0)
      writer.int64(4001)
      writer.int16(7)
      writer.noTags()
    },
    AnswerSample(ProduceRequest.self) { writer in
      writer.array(["nudge.pushes", "nudge.analyzer-state"]) { writer, topic in
        writer.text(topic)
        writer.array([(0, 0), (1, 87), (2, 6)] as [(Int32, Int16)]) { writer, partition in
          writer.int32(partition.0)
          writer.int16(partition.1)
          writer.int64(1234)
          writer.int64(-1)
          writer.int64(0)
          writer.array((partition.1 == 87 ? [3] : []) as [Int32]) { writer, index in
            writer.int32(index)
            writer.text("no key")
            writer.noTags()
          }
          writer.text(partition.1 == 87 ? "refused" : nil)
          // The current leader, in a tagged field.
          if partition.1 == 6 { writer.raw([1, 0, 9, 0, 0, 0, 2, 0, 0, 0, 1, 0]) } else { writer.noTags() }
        }
        writer.noTags()
      }
      writer.int32(0)
      writer.noTags()
    },
    AnswerSample(TxnOffsetCommitRequest.self) { writer in
      writer.int32(0)
      writer.array(["nudge.timeline"]) { writer, topic in
        writer.text(topic)
        writer.array([0, 1, 2, 3] as [Int32]) { writer, partition in
          writer.int32(partition)
          writer.int16(partition == 3 ? 22 : 0)
          writer.noTags()
        }
        writer.noTags()
      }
      writer.noTags()
    },
    AnswerSample(EndTxnRequest.self) { writer in
      writer.int32(0)
      writer.int16(0)
      writer.int64(4001)
      writer.int16(8)
      writer.noTags()
    },
    AnswerSample(AddPartitionsToTxnRequest.self) { writer in
      writer.int32(0)
      writer.array(["nudge.pushes", "nudge.analyzer-state"]) { writer, topic in
        writer.text(topic)
        writer.array([(0, 55), (1, 3)] as [(Int32, Int16)]) { writer, partition in
          writer.int32(partition.0)
          writer.int16(partition.1)
          writer.noTags()
        }
        writer.noTags()
      }
      writer.noTags()
    },
    AnswerSample(AddOffsetsToTxnRequest.self) { writer in
      writer.int32(0)
      writer.int16(51)
      writer.noTags()
    },
    AnswerSample(FormerEndTxnRequest.self) { writer in
      writer.int32(0)
      writer.int16(47)
      writer.noTags()
    },
  ]
}
