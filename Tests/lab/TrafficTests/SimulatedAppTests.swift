import AppAttest
import AppCheck
import DeviceLab
import Testing

@testable import Traffic

@Suite("Fake devices match their app's rules")
struct SimulatedAppTests {
    private static func shapes(_ change: (inout Expectations) -> Void) -> Set<DeviceShape> {
        var expectations = Expectations(appIDs: [AppID("T.a")])
        change(&expectations)
        let app = RegisteredApp(projectNumber: "1", projectID: nil, appID: "a", expectations: expectations)
        return Set(SimulatedApp(app)?.shapes ?? [])
    }

    private static let flagged = Set(DeviceShape.allCases.filter { $0.setsEDFlag && $0.hasCategory })
    private static let unflagged: Set<DeviceShape> = [.ios27_0, .macos27_0]

    @Test func `if an app requires the category, its devices have one that counts in both objects`() {
        #expect(Self.shapes { _ in } == Set(DeviceShape.allCases))
        #expect(Self.shapes { $0.categories.whenMissing = .refuse } == Self.flagged)
        let trusting = Self.shapes { ($0.categories.whenMissing, $0.extensionTrust) = (.refuse, .any) }
        #expect(trusting == Self.flagged.union(Self.unflagged))
        let withoutReceipts = Self.shapes {
            ($0.categories.whenMissing, $0.extensionTrust, $0.receipt) = (.refuse, .any, .ignore)
        }
        #expect(withoutReceipts == Self.flagged)
        #expect(Self.shapes { $0.categories.allow = [] }.isDisjoint(with: Self.flagged.union(Self.unflagged)))
    }
}
