/// A topic to be created. Without `replication` the broker's default applies.
package struct NewTopic: Sendable, Equatable {
    package var name: String
    package var partitions: Int
    package var replication: Int?
    package var settings: [(name: String, value: String)]

    package init(
        name: String,
        partitions: Int,
        replication: Int? = nil,
        settings: [(name: String, value: String)] = []
    ) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.settings = settings
    }

    package static func == (left: NewTopic, right: NewTopic) -> Bool {
        left.name == right.name && left.partitions == right.partitions && left.replication == right.replication
            && left.settings.elementsEqual(right.settings) { $0 == $1 }
    }
}
