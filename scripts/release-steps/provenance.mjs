// States how a bundle was built, as an in-toto statement with the provenance predicate of SLSA: commit, builder, and digests of the inputs.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { zig } from './zig-toolchain.mjs'

/** `files`: those of the bundle that were built, with their SHA-256; `addon`: the SQLite addon that was packed. */
export function describeProvenance({ root, about, files, addon }) {
  const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages
  const sha256 = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex')
  const locked = (name) => {
    const { version, integrity } = lock[`node_modules/${name}`]
    const digest = { sha512: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }
    return { uri: `pkg:npm/${name.replace('@', '%40')}@${version}`, digest }
  }
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ path: name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:platform:scripts:release:1',
        externalParameters: { version: about.version, arch: about.arch },
        internalParameters: { glibc: '2.28' },
        resolvedDependencies: [
          { uri: 'urn:platform:source', digest: { gitCommit: about.commit.replace('-dirty', '') } },
          {
            uri: 'urn:platform:source:package-lock.json',
            digest: { sha256: sha256(path.join(root, 'package-lock.json')) },
          },
          ...[`node-linux-${about.arch}`, 'better-sqlite3', 'node-addon-api', 'esbuild', '@yao-pkg/pkg'].map(locked),
          { uri: `pkg:pypi/ziglang@${zig.version}`, digest: { sha256: zig.sha256[process.arch] } },
          { uri: 'urn:platform:build:better_sqlite3.node', digest: { sha256: sha256(addon) } },
        ],
      },
      runDetails: { builder: { id: 'urn:platform:scripts:release', version: { platform: about.version } } },
    },
  }
}
