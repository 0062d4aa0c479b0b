internal import AppAttest
package import AppCheck
internal import Streams

/// A command of an operator that has taken effect: told once its batch is committed. No secret is in it.
package struct OperatorAct: LoopNotice, Equatable {
    package let command: OperatorCommand
    /// The operator's key.
    let key: SealingKeyID
    package let partition: Int32
    package let offset: Int64

    package init(_ command: OperatorCommand, key: SealingKeyID, partition: Int32, offset: Int64) {
        (self.command, self.key, self.partition, self.offset) = (command, key, partition, offset)
    }

    package var description: String {
        let until = command.until.map { " until \(ReportValue.time($0))" } ?? ""
        let ban = command.keepsBan ? ", its ban stays" : ""
        return
            "\(command.action.rawValue) of \(command.subject.name)\(until)\(ban): by record \(partition)/\(offset), "
            + "with the key \(ReportValue.bytes(key.bytes))"
    }
}
