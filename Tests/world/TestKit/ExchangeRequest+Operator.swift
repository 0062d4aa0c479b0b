internal import AppAttest
package import AppCheck
internal import Crypto
internal import Streams

extension ExchangeRequest {
    /// An operator's command, signed as the program signs it.
    package static func command(
        _ command: OperatorCommand,
        _ keys: KeyRings,
        with key: OperatorKey? = nil
    ) throws -> Self {
        guard let key = key ?? OperatorKeys(keys).active else { throw ExchangeKit.MissingKey() }
        var request = Self(OperatorRequest.value(command, key), key: command.requiredRecordKey)
        request.partition = command.partition
        return request
    }

    /// The same request with the header `installation-id`.
    package func carrying(_ installation: String) -> Self {
        with(headers: headers + [RecordHeader("installation-id", installation)])
    }
}

extension OperatorCommand {
    /// - Parameter seed: tells commands of one time apart.
    package static func sample(
        _ verb: Action,
        _ subject: Subject,
        at milliseconds: Int64 = ExchangeKit.start,
        seed: UInt8 = 0,
        on partition: Int32? = nil,
        until: Int64? = nil
    ) -> OperatorCommand {
        let nonce = Array(SHA256.hash([seed, 0x6E]).bytes.prefix(nonceBytes))
        let time = EvaluationTime(milliseconds: milliseconds)
        var command = OperatorCommand(verb, subject, issuedAt: time, nonce: nonce)
        command.partition = partition
        command.until = until.map { EvaluationTime(milliseconds: $0) }
        return command
    }
}
