package import Foundation

/// The package's folder, for tests that read its pages, its configuration, and what lies beside it.
package enum PackageFolder {
    // Tests/world/TestKit/PackageFolder.swift
    package static let url = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }
}
