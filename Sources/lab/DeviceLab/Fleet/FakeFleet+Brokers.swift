/// Devices that attest for many: some keys of a fleet lie on hardware that they share.
extension FakeFleet {
    /// Keys on the hardware of one broker; of the last one there may be fewer.
    package static let keysPerBroker = 12

    /// The number of the hardware that a device's key shares with others; nil = the key has it alone.
    package func hardware(of device: Int) -> UInt64? {
        let (position, app) = device.quotientAndRemainder(dividingBy: plan.appIDs.count)
        let shared = sharedKeys(before: position)
        guard sharedKeys(before: position + 1) > shared else { return nil }
        let number = shared / Self.keysPerBroker * plan.appIDs.count + app
        // Fleets of several apps have different seeds: no hardware is in two of them.
        return plan.seed &+ UInt64(number)
    }

    /// How many keys lie on the hardware of a device's key, its own included.
    package func keysOnHardware(of device: Int) -> Int {
        guard hardware(of: device) != nil else { return 1 }
        let (position, app) = device.quotientAndRemainder(dividingBy: plan.appIDs.count)
        let positions = (plan.devices - app + plan.appIDs.count - 1) / plan.appIDs.count
        let first = sharedKeys(before: position) / Self.keysPerBroker * Self.keysPerBroker
        return min(Self.keysPerBroker, sharedKeys(before: positions) - first)
    }

    /// Shared keys lie evenly among an app's others.
    private func sharedKeys(before position: Int) -> Int { Int(Double(position) * plan.brokerShare) }
}
