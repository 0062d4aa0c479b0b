/// The partitions of a worker's topics.
struct TopicPartitions {
    /// What all topics have but the replies.
    var requests: Int32
    /// 0 = no such topic.
    var replies: Int32 = 0
}
