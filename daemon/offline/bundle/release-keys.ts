// Public keys of releases: PEM files of a folder that the operator holds, each with lines of its validity above the key.
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readInputFile } from '../read-input-file.ts'
import type { ReleaseAlgorithm } from './bundle-manifest.ts'

export type ReleaseKey = {
  readonly file: string
  readonly algorithm: ReleaseAlgorithm
  readonly key: KeyObject
  /** SHA-256 of the DER of the key, as `openssl pkey -pubin -outform DER | sha256sum` prints it. */
  readonly fingerprint: string
  /** Epoch milliseconds. */
  readonly not_before: number | undefined
  readonly not_after: number | undefined
  readonly isRevoked: boolean
}

const max_key_bytes = 65_536
const max_keys = 64

/** ML-DSA-44 is below the strength of Ed25519, so that a signature by it counts for nothing. */
const algorithms: Readonly<Record<string, ReleaseAlgorithm>> = {
  ed25519: 'Ed25519',
  'ml-dsa-65': 'ML-DSA',
  'ml-dsa-87': 'ML-DSA',
}

/** Throws `OfflineCommandError` for a folder without keys, and for a file that is not the public key of a release. */
export function readReleaseKeys(folder: string): ReleaseKey[] {
  const files = listKeyFiles(folder)
  if (files.length === 0)
    throw new OfflineCommandError(1, `${folder} has no public key`, 'put the PEM files of the release keys into it')
  if (files.length > max_keys) throw new OfflineCommandError(2, `${folder} has more than ${max_keys} keys`)
  return files.map((file) => readReleaseKey(path.join(folder, file), file))
}

function listKeyFiles(folder: string): string[] {
  try {
    return fs
      .readdirSync(folder)
      .filter((name) => name.endsWith('.pem'))
      .sort()
  } catch {
    throw new OfflineCommandError(
      1,
      `${folder} cannot be read`,
      'name the folder with the PEM files of the release keys',
    )
  }
}

function readReleaseKey(path: string, file: string): ReleaseKey {
  const text = readInputFile(path, max_key_bytes)
  const [, preamble = '', pem] =
    /^([\s\S]*?)(-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----)\s*$/.exec(text) ?? []
  const key = pem === undefined ? undefined : importPublicKey(pem)
  const algorithm = algorithms[key?.asymmetricKeyType ?? '']
  if (!key || !algorithm)
    throw new OfflineCommandError(
      2,
      `${path} is not the public key of a release`,
      'a file has one public key in PEM: Ed25519, ML-DSA-65 or ML-DSA-87',
    )
  const der = key.export({ format: 'der', type: 'spki' })
  return {
    ...{ file, algorithm, key, fingerprint: createHash('sha256').update(der).digest('hex') },
    ...{ not_before: readTime(path, preamble, 'Not-Before'), not_after: readTime(path, preamble, 'Not-After') },
    isRevoked: /^Revoked:/im.test(preamble),
  }
}

function importPublicKey(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}

/** The time of a line above the key, which openssl skips. A time that cannot be read must not mean "for ever". */
function readTime(path: string, preamble: string, field: string): number | undefined {
  const [, value] = new RegExp(`^${field}:(.*)$`, 'im').exec(preamble) ?? []
  if (value === undefined) return undefined
  const text = value.trim()
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time))
    throw new OfflineCommandError(2, `${path}: ${field} ${text} is not a time`, 'write it as 2028-12-31T00:00:00Z')
  return time
}

/** Why the key does not count for a release of this time, at the time `now`; undefined where it does. */
export function findKeyFault(
  { file, not_before, not_after, isRevoked }: ReleaseKey,
  times: readonly number[],
): string | undefined {
  if (isRevoked) return `${file} is revoked`
  if (not_after !== undefined && times.some((time) => time > not_after))
    return `${file} expired at ${new Date(not_after).toISOString()}`
  if (not_before !== undefined && times.some((time) => time < not_before))
    return `${file} is valid only from ${new Date(not_before).toISOString()}`
  return undefined
}
