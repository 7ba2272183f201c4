// Key sets beside the keys: those that are, or were, in force, and what the root keys of this folder have signed.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { parseKeySet } from '../../../daemon/kernel/cryptography/key-set.ts'
import { type Jws, jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { readSecretFile } from '../../platform/secret-file/read-secret-file.ts'
import { max_key_file_bytes, writePrivateJson } from './key-files.ts'

const setFilePattern = /^\d{8}\.json$/

/** The site's key sets, oldest first; the last is in force. Throws an Error with its remedy for a file that is none. */
export function readKeySets(dir: string): Jws[] {
  const folder = join(dir, 'sets')
  if (!fs.existsSync(folder)) return []
  const names = fs.readdirSync(folder).filter((name) => !name.startsWith('.'))
  return names.sort().map((name) => {
    const set = setFilePattern.test(name) ? readSet(join(folder, name)) : undefined
    if (set && setFileName(parseKeySet(set)?.version ?? 0) === name) return set
    throw new Error(`${join(folder, name)} is not the key set that it is named after; restore it from a backup`)
  })
}

/** Durable when it returns; in force from then on when its version is the highest. */
export function writeKeySet(dir: string, version: number, set: Jws): void {
  writePrivateJson(join(dir, 'sets'), setFileName(version), set)
}

/**
 * The signatures of this folder's root keys for this version of the site's key set, and the highest version that
 * they have signed at all; 0 for none.
 */
export function readSignedVersions(
  dir: string,
  site: string,
  version: number,
): { highest: number; same: Jws | undefined } {
  const folder = join(dir, 'signed')
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : []
  const versions = names.flatMap((name) =>
    name.startsWith(`${site}-`) ? parseVersion(name.slice(site.length + 1)) : [],
  )
  const path = join(folder, `${site}-${setFileName(version)}`)
  const same = versions.includes(version) ? readSet(path) : undefined
  if (versions.includes(version) && !same) throw new Error(`${path} is not a key set; restore it from a backup`)
  return { highest: Math.max(0, ...versions), same }
}

/** Before the signature leaves: a root key that signs two sets of one version splits the site. */
export function recordSigned(dir: string, site: string, version: number, set: Jws): void {
  writePrivateJson(join(dir, 'signed'), `${site}-${setFileName(version)}`, set)
}

function parseVersion(name: string): number[] {
  return setFilePattern.test(name) ? [Number.parseInt(name, 10)] : []
}

function setFileName(version: number): string {
  return `${String(version).padStart(8, '0')}.json`
}

function readSet(path: string): Jws | undefined {
  return parseJsonAs(jws, readSecretFile(path, { max_bytes: max_key_file_bytes }))
}
