internal import AppAttest
internal import DeviceLab

/// The inputs that a device makes: valid ones, ones with a single fault, ones with damaged bytes.
struct DeviceInputs {
    let judge: Judge
    /// Signs in name alone: only the oracle knows its signatures.
    let device: FakeDevice
    let realDevice: FakeDevice

    func maker(_ way: Judge.Way) -> FakeDevice { way.isReal ? realDevice : device }

    func code(_ result: Result<some Any, Refusal>) -> String {
        switch result {
        case .success: "accepted"
        case .failure(let refusal): refusal.code
        }
    }
}
