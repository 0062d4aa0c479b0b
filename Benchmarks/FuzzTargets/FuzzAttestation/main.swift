internal import Foundation
internal import FuzzSupport

let target = try AttestationTarget()
exit(FuzzDriver.run(seeds: { target.seeds }, target: target.run))
