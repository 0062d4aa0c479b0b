package import AppAttest
internal import Foundation
package import Testing

/// An object signed by Apple, with what is known about it; shape: a JSON file per object.
package struct RealVector: Decodable, Sendable, CustomTestStringConvertible {
    package enum Kind: String, Decodable, Sendable { case attestation, assertion, receipt }

    /// The file's name.
    package fileprivate(set) var name = ""
    package let kind: Kind
    package let environment: String?
    package let appID: String?
    private let rpIdHash: Data?
    private let keyId: Data?
    private let object: Data
    private let publicKey: Data?
    private let clientData: Data?
    private let clientDataHash: Data?
    private let acceptingClientDataHash: Data?
    package let counter: UInt32?
    package let receiptType: String?
    package let riskMetric: Int?
    private let validAt: Date
    private let leafNotBefore: Date?
    private let leafNotAfter: Date?
    private let created: Date?
    private let notBefore: Date?
    private let expires: Date?
    package let attestationVector: String?
    /// `valid` or the reason.
    package let expected: String
    /// The embedded receipt's verdict where it differs from the attestation's.
    package let receiptExpected: String?

    private enum CodingKeys: String, CodingKey {
        case kind, environment, appID, rpIdHash, keyId, object, publicKey, clientData, clientDataHash
        case acceptingClientDataHash, counter, receiptType, riskMetric, validAt, leafNotBefore, leafNotAfter
        case created, notBefore, expires, attestationVector, expected, receiptExpected
    }

    package var testDescription: String { name }

    package var objectBytes: [UInt8] { [UInt8](object) }
    package var keyIDBytes: [UInt8]? { keyId.map { [UInt8]($0) } }
    package var publicKeyBytes: [UInt8]? { publicKey.map { [UInt8]($0) } }
    package var rpIDHashBytes: [UInt8]? { rpIdHash.map { [UInt8]($0) } }
    package var clientDataBytes: [UInt8]? { clientData.map { [UInt8]($0) } }
    package var clientDataHashBytes: [UInt8]? { clientDataHash.map { [UInt8]($0) } }
    /// What a device of the iOS 14 betas really signed, beside what it should have.
    package var acceptingClientDataHashBytes: [UInt8]? { acceptingClientDataHash.map { [UInt8]($0) } }

    package var validAtTime: EvaluationTime { Self.time(validAt) }
    package var leafNotBeforeTime: EvaluationTime? { leafNotBefore.map(Self.time) }
    package var leafNotAfterTime: EvaluationTime? { leafNotAfter.map(Self.time) }
    package var createdTime: EvaluationTime? { created.map(Self.time) }
    package var notBeforeTime: EvaluationTime? { notBefore.map(Self.time) }
    package var expiresTime: EvaluationTime? { expires.map(Self.time) }

    private static func time(_ date: Date) -> EvaluationTime {
        EvaluationTime(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}

/// The 149 real vectors and Apple's anchors, which lie beside the checkout or where `ATTEST_VECTORS` says.
package enum Vectors {
    package static let expectedCount = 149

    /// All vectors by name; empty without the folder.
    package static let real: [RealVector] = {
        let folder = directory.appending(path: "real")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
            guard let data = try? Data(contentsOf: folder.appending(path: name)),
                var vector = try? decoder.decode(RealVector.self, from: data)
            else { return nil }
            vector.name = name
            return vector
        }
    }()

    package static var arePresent: Bool { !real.isEmpty }
    package static let absence: Comment = "no real vectors here (149 expected): set ATTEST_VECTORS to their folder"

    package static func real(_ kind: RealVector.Kind) -> [RealVector] { real.filter { $0.kind == kind } }
    package static func named(_ name: String) -> RealVector? { real.first { $0.name == name } }

    /// A PEM file beside them; empty if it is not there.
    package static func pem(_ name: String) -> [UInt8] {
        (try? Data(contentsOf: directory.appending(path: name))).map { [UInt8]($0) } ?? []
    }

    package static var appleAttestationRoot: [UInt8] { pem("Apple_App_Attestation_Root_CA.pem") }
    package static var appleReceiptRoot: [UInt8] { pem("Apple_Root_CA_G3.pem") }

    static let directory: URL = {
        if let set = ProcessInfo.processInfo.environment["ATTEST_VECTORS"] { return URL(filePath: set) }
        return PackageFolder.url.deletingLastPathComponent().appending(path: "shared/vectors")
    }()

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            // RFC 3339 in UTC with no, two or three fraction digits: Foundation reads only some of them.
            let parts = text.dropLast().split(separator: ".")
            let fraction = parts.count > 1 ? Double("0." + parts[1]) ?? 0 : 0
            return try Date.ISO8601FormatStyle().parse(parts[0] + "Z").addingTimeInterval(fraction)
        }
        return decoder
    }
}
