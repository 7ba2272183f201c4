// Builds small signed bundles: the files and signatures of a release, around an executable of some bytes.
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { archiveBundle, sealBundle, signByKeys } from '../../../scripts/release-steps/seal-bundle.ts'

const about = { version: '1.2.3', commit: 'a'.repeat(40), date: '2026-11-01T00:00:00Z' }
const machines = { x64: 62, arm64: 183 }

export type SmallBundle = {
  /** Of the test; everything else is in it. */
  readonly work: string
  readonly folder: string
  readonly archive: string
  readonly keys: string
  /** Holds the private keys. */
  readonly signing: string
}

/** A bundle with keys of its own; ends with the test. */
export function buildSmallBundle(arch: keyof typeof machines = 'x64'): SmallBundle {
  const work = mkdtempSync(path.join(tmpdir(), 'small-bundle-'))
  onTestFinished(() => rmSync(work, { recursive: true, force: true }))
  const folder = path.join(work, `platform-${about.version}-linux-${arch}`)
  for (const name of ['docs', 'licences/@scope/part-1.0.0']) mkdirSync(path.join(folder, name), { recursive: true })
  const executable = Buffer.alloc(3_000)
  executable.write('\u007fELF\u0002\u0001', 'latin1')
  executable.writeUInt16LE(machines[arch], 18)
  writeFileSync(path.join(folder, 'platform'), executable, { mode: 0o755 })
  chmodSync(path.join(folder, 'platform'), 0o755)
  writeFileSync(path.join(folder, 'docs/guide.md'), '# Guide\n')
  writeFileSync(path.join(folder, 'licences/@scope/part-1.0.0/LICENSE'), 'Permission is granted.\n')
  const bundle = { ...{ work, folder, archive: `${folder}.tar` }, ...writeReleaseKeys(work) }
  sealAgain(bundle, arch)
  return bundle
}

/** Signs what the folder contains now, for any architecture, and makes the archive of it where that is the one of its name. */
export function sealAgain({ folder, archive, signing }: SmallBundle, arch: keyof typeof machines = 'x64'): void {
  sealBundle({ folder, about: { ...about, arch }, signer: signByKeys(signing) })
  if (folder.endsWith(arch)) archiveBundle({ folder, about: { ...about, arch }, out: archive })
}

/** New keys of a release: private ones in `signing`, public ones in `keys`. */
export function writeReleaseKeys(work: string): Pick<SmallBundle, 'keys' | 'signing'> {
  const [keys, signing] = [path.join(work, 'keys'), path.join(work, 'signing')]
  const pairs = { ed25519: generateKeyPairSync('ed25519'), 'ml-dsa': generateKeyPairSync('ml-dsa-65') }
  for (const each of [keys, signing]) mkdirSync(each, { recursive: true })
  for (const [name, { publicKey, privateKey }] of Object.entries(pairs)) {
    writeFileSync(path.join(keys, `${name}.pem`), publicKey.export({ format: 'pem', type: 'spki' }))
    writeFileSync(path.join(signing, `${name}.pem`), privateKey.export({ format: 'pem', type: 'pkcs8' }), {
      mode: 0o600,
    })
  }
  return { keys, signing }
}
