internal import AppAttest
internal import JSON
internal import Settings

/// An event `AppAttestRisk`: Apple's new metric of a device's key.
struct RiskEvent: Equatable {
    /// A resource name, as the worker wrote it.
    var app: String
    var environment: Environment
    /// The number of the device's tag.
    var device: UInt64
    var metric: UInt16
    /// Milliseconds since 1970.
    var at: Int64

    enum Reading: Equatable {
        case risk(RiskEvent)
        /// An event of another name.
        case other
        case unreadable
    }

    static func read(_ value: [UInt8]?) -> Reading {
        guard let value, let root = try? JSONDocument(parsing: value).root, let name = root["event"]?.string,
            let app = root["app"]?.string
        else { return .unreadable }
        guard name == "AppAttestRisk" else { return .other }
        guard let device = (root["device"]?.string).flatMap({ UInt64($0, radix: 16) }),
            let metric = (root["metric"]?.integer).flatMap({ UInt16(exactly: $0) }),
            let environment = (root["environment"]?.string).flatMap({ Environment(rawValue: $0) }),
            let at = (root["at"]?.string).flatMap({ EventTime.milliseconds($0) ?? TimeText.milliseconds($0) })
        else { return .unreadable }
        return .risk(RiskEvent(app: app, environment: environment, device: device, metric: metric, at: at))
    }
}
