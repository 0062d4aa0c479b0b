internal import AppAttest
internal import AppCheck
internal import Settings

extension ContractSchema {
    /// An event of the exchanges.
    static var event: JSONTree {
        let methods = Verb.allCases.filter { $0.hasEvents || $0.content == .receipt }
        return open([
            JSONSchema.Member(
                "event",
                JSONSchema.choice([
                    "AppAttestSuccess", "AppAttestFailure", "AppAttestNotAdmitted", "DebugTokenSuccess",
                    "DebugTokenFailure", "AppAttestRisk",
                ])
            ),
            JSONSchema.Member("app", JSONSchema.string(pattern: "^projects/.+/apps/.+$")),
            JSONSchema.Member("method", JSONSchema.choice(methods.map(\.rawValue))),
            optional("reason", reason),
            JSONSchema.Member("requestId", JSONSchema.string),
            JSONSchema.Member("limitedUse", JSONSchema.boolean),
            optional("bucket", JSONSchema.integer(0...Rollout.whole)),
            optional("percent", JSONSchema.number(0...100)),
            optional("device", JSONSchema.string(pattern: "^[0-9a-f]{16}$")),
            optional("debugToken", JSONSchema.string(atLeast: 1)),
            optional("platform", JSONSchema.string),
            optional("osVersion", JSONSchema.string),
            optional("bundleVersion", JSONSchema.string),
            optional("restored", isTrue),
            optional("metric", metric),
            optional("previousMetric", metric),
            optional("environment", JSONSchema.choice(Environment.allCases.map(\.rawValue))),
            optional("riskAbove", isTrue),
            JSONSchema.Member("at", JSONSchema.time),
        ])
    }

    /// A misspelled member would lift a check silently: no other is allowed.
    static var keys: JSONTree {
        JSONSchema.object([
            JSONSchema.Member("keyId", anyDigest),
            JSONSchema.Member("publicKey", JSONSchema.any([anyBase64, JSONSchema.string(pattern: "^-----BEGIN")])),
            JSONSchema.Member("appleAppId", JSONSchema.string(atLeast: 1)),
            JSONSchema.Member("environment", JSONSchema.choice(Environment.allCases.map(\.rawValue))),
            JSONSchema.Member("counter", counter),
            optional("app", orNull(JSONSchema.string(atLeast: 1))),
            optional("nonce", orNull(anyDigest)),
            optional("issued", orNull(issued)),
            optional("lastRequest", orNull(lastRequest)),
            optional("banned", orNull(banned)),
            optional("risk", orNull(risk)),
        ])
    }

    /// Trace headers are the request's own bytes and may stand there too.
    static var resultHeaders: JSONTree {
        open([
            JSONSchema.Member("request-id", JSONSchema.string(atLeast: 1)),
            JSONSchema.Member("status", JSONSchema.string(pattern: "^[2-5][0-9][0-9]$")),
        ])
    }

    /// The headers of a dead letter in addition to the record's own. `request-id` and others are bytes and may stand
    /// there too.
    static var deadLetterHeaders: JSONTree {
        open([
            JSONSchema.Member("dlq.reason", JSONSchema.openChoice(DeadLetterReason.allCases.map(\.rawValue))),
            JSONSchema.Member("dlq.topic", JSONSchema.string(atLeast: 1)),
            JSONSchema.Member("dlq.partition", JSONSchema.string(pattern: "^[0-9]+$")),
            JSONSchema.Member("dlq.offset", JSONSchema.string(pattern: "^[0-9]+$")),
            optional("dlq.truncated", JSONSchema.choice(["true"])),
            optional("dlq.sha256", JSONSchema.string(pattern: "^[0-9a-f]{64}$")),
        ])
    }

    private static func orNull(_ schema: JSONTree) -> JSONTree { JSONSchema.any([schema, null]) }

    /// 32 bytes in either alphabet, padded or not.
    private static let anyDigest = JSONSchema.string(pattern: "^[A-Za-z0-9+/_-]{43}=?$")

    /// Either alphabet, padded or not.
    private static let anyBase64 = JSONSchema.string(pattern: "^[A-Za-z0-9+/_-]*={0,2}$")

    private static var issued: JSONTree {
        JSONSchema.object([
            JSONSchema.Member("notBefore", JSONSchema.integer(-631_152_000...253_402_300_799)),
            JSONSchema.Member("serial", JSONSchema.integer(0...Int64.max)),
        ])
    }

    private static var banned: JSONTree {
        JSONSchema.object([
            JSONSchema.Member("since", JSONSchema.integer(0...253_402_300_799)),
            optional("until", JSONSchema.integer(0...253_402_300_799)),
        ])
    }

    static var metric: JSONTree { JSONSchema.integer(0...Int64(UInt16.max)) }

    private static var risk: JSONTree {
        JSONSchema.object([
            JSONSchema.Member("metric", metric),
            JSONSchema.Member("createdAt", JSONSchema.integer(1...Int64(UInt32.max))),
        ])
    }

    private static var lastRequest: JSONTree {
        JSONSchema.object([
            JSONSchema.Member("id", JSONSchema.string(atLeast: 1)),
            JSONSchema.Member("valueSha256", anyDigest),
            JSONSchema.Member("verdict", JSONSchema.string(atLeast: 1)),
            optional("iat", orNull(JSONSchema.integer(0...Int64.max))),
            optional("exp", orNull(JSONSchema.integer(0...Int64.max))),
        ])
    }
}
