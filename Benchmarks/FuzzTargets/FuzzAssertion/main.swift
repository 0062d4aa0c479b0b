internal import Foundation
internal import FuzzSupport

let target = try AssertionTarget()
exit(FuzzDriver.run(seeds: { target.seeds }, target: target.run))
