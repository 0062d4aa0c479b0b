internal import AppAttest
internal import AppCheck
internal import Settings

extension ContractSchema {
    /// Exactly one for every request.
    static var result: JSONTree {
        var schema = open([
            JSONSchema.Member("requestId", JSONSchema.string),
            JSONSchema.Member("path", JSONSchema.string),
            JSONSchema.Member("keyId", JSONSchema.any([keyID, null])),
            JSONSchema.Member("verdict", JSONSchema.choice(["accepted", "refused", "deferred"])),
            optional("reason", reason),
            JSONSchema.Member("status", status),
            optional("duplicate", isTrue),
            optional("response", open([optional("alreadyConsumed", isTrue)])),
            optional("evidence", JSONSchema.any([evidence] + presented)),
            JSONSchema.Member("source", source),
            JSONSchema.Member("evaluatedAt", JSONSchema.any([JSONSchema.time, null])),
        ])
        // Only what is not accepted has a reason.
        schema["if"] = members("properties", ["verdict": JSONSchema.choice(["accepted"])])
        schema["then"] = members("not", ["required": .array([.string("reason")])])
        schema["else"] = .object([JSONTree.Member(name: "required", value: .array([.string("reason")]))])
        return schema
    }

    static var reason: JSONTree { JSONSchema.openChoice(Reason.allCases.map(\.code)) }

    private static func members(_ name: String, _ inner: KeyValuePairs<String, JSONTree>) -> JSONTree {
        let value = JSONTree.object(inner.map { JSONTree.Member(name: $0.key, value: $0.value) })
        return .object([JSONTree.Member(name: name, value: value)])
    }

    private static var status: JSONTree {
        open([
            JSONSchema.Member("code", JSONSchema.integer(200...599)),
            JSONSchema.Member("status", JSONSchema.string(pattern: "^[A-Z_]+$")),
            JSONSchema.Member("message", JSONSchema.string),
        ])
    }

    private static var source: JSONTree {
        open([
            JSONSchema.Member("topic", JSONSchema.string),
            JSONSchema.Member("partition", JSONSchema.integer(0...Int64(Int32.max))),
            JSONSchema.Member("offset", JSONSchema.integer(0...Int64.max)),
            JSONSchema.Member("timestamp", JSONSchema.integer(Int64.min...Int64.max)),
        ])
    }

    private static var evidence: JSONTree {
        open([
            JSONSchema.Member("environment", JSONSchema.choice(Environment.allCases.map(\.rawValue))),
            JSONSchema.Member("appId", JSONSchema.string),
            JSONSchema.Member("counter", counter),
            optional("previousCounter", counter),
            optional("publicKey", JSONSchema.base64),
            optional("platform", JSONSchema.string),
            optional("osVersion", JSONSchema.string),
            optional("validationCategory", counter),
            optional("bundleVersion", JSONSchema.string),
            optional("extensionsIgnored", isTrue),
            optional("restored", isTrue),
            optional("leaf", open(times("notBefore", "notAfter", areRequired: true))),
            optional("receipt", receipt),
            optional("risk", risk),
        ])
    }

    /// What a refusal by App ID, category or bundle version was presented with; and why a token is invalid.
    private static var presented: [JSONTree] {
        let (version, ignored) = ("presentedBundleVersion", optional("extensionsIgnored", isTrue))
        let claimed = [
            optional("kid", JSONSchema.string), optional("iss", JSONSchema.string),
            JSONSchema.Member("aud", JSONSchema.list(of: JSONSchema.string)),
            optional("exp", JSONSchema.integer(Int64.min...Int64.max)),
        ]
        return [
            open([JSONSchema.Member("presentedAppId", JSONSchema.string)]),
            open([
                JSONSchema.Member("presentedCategory", counter), optional(version, JSONSchema.string), ignored,
            ]),
            open([JSONSchema.Member(version, JSONSchema.string), ignored]),
            open([
                JSONSchema.Member("tokenFault", JSONSchema.openChoice(TokenFault.allCases.map(\.rawValue))),
                optional("claimed", open(claimed)),
            ]),
        ]
    }

    private static var receipt: JSONTree {
        open(
            [
                JSONSchema.Member("verdict", JSONSchema.choice(["accepted", "refused"])),
                optional("reason", JSONSchema.openChoice(ReceiptRefusal.allCases.map { Refusal.receipt($0).code })),
                optional("type", JSONSchema.string),
                optional("riskMetric", JSONSchema.string),
            ] + times("createdAt", "notBefore", "expiresAt", areRequired: false)
        )
    }

    private static var risk: JSONTree {
        open([JSONSchema.Member("metric", metric)] + times("createdAt", areRequired: true))
    }

    private static func times(_ names: String..., areRequired: Bool) -> [JSONSchema.Member] {
        names.map { JSONSchema.Member($0, JSONSchema.time, isRequired: areRequired) }
    }
}
