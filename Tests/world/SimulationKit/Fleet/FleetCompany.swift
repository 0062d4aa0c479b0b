package import Pipeline
package import Streams

/// Actors beside a fleet's workers: they send requests and wait for answers.
package protocol FleetCompany: AnyObject {
    /// A moment of the world.
    func move()
    /// The world becomes calm: no more faults.
    func calm()
    /// The most milliseconds that pass in one step.
    var mostPause: Int { get }
    /// Whether all have what they need.
    var isSettled: Bool { get }
    /// The settings of a worker that starts; nil = its files do not let it start.
    func settings(of worker: String) -> PipelineSettings?
    func clock(of worker: String) -> SimulatedClock
    /// A worker has ended because its files lack something.
    func ended(_ worker: String, _ sentence: String)
    func told(_ fault: any SourceFault, by worker: String)
}
