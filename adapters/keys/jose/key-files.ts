// Private keys at rest: one file a key, for its owner alone, changed only by renaming a complete file into place.

import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { parsePublicJwk, readKeyMaterial } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import { publicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { writeDurably } from '../../platform/durable-file/write-durably.ts'
import { readSecretFile } from '../../platform/secret-file/read-secret-file.ts'
import { signingCommand } from './command-record.ts'

/**
 * A key of the site, its private half in the open, under a passphrase, or behind a command that signs. A revoked one has lost it: nothing can sign
 * with it again.
 */
export const storedKey = z
  .strictObject({
    public_key: publicKey,
    private_jwk: z.record(z.string(), z.unknown()).optional(),
    private_jwe: z.string().max(65_536).optional(),
    signing_command: signingCommand.optional(),
  })
  .refine((key) => countPrivateHalves(key) <= 1)
  .refine(({ public_key: { use }, signing_command }) => signing_command === undefined || commandUses.has(use))
export type StoredKey = z.infer<typeof storedKey>

/** Tokens are signed too often for a module, and people sign with a key on their own medium. */
const commandUses: ReadonlySet<string> = new Set(['root', 'message'])

type PrivateHalves = {
  readonly private_jwk?: unknown
  readonly private_jwe?: unknown
  readonly signing_command?: unknown
}

function countPrivateHalves({ private_jwk, private_jwe, signing_command }: PrivateHalves): number {
  return [private_jwk, private_jwe, signing_command].filter((half) => half !== undefined).length
}

/** Whether the private half is in the file, open or encrypted, or behind a signing command. */
export function hasPrivateHalf(key: PrivateHalves): boolean {
  return countPrivateHalves(key) > 0
}

const keyFilePattern = /^[a-z]+-[A-Za-z0-9_-]{16}\.json$/
/** An ML-DSA-87 key is 8 KiB, and a key set of 64 of them with its signatures below 512 KiB. */
export const max_key_file_bytes = 524_288

/** Folders beside the keys: see `key-set-files.ts` and `wrapping-keys.ts`, and the certificates of authorities. */
const reservedFolders: ReadonlySet<string> = new Set(['sets', 'signed', 'certificates', 'secrets'])

/** Makes the folder with mode 0700, or refuses one that others may enter. */
function prepareKeyFolder(dir: string): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  requirePrivateFolder(dir)
}

/**
 * All keys of the folder, oldest first; none when there is no folder. Throws an Error with its remedy for a folder or
 * file that others may read, and for a file that is not the key it is named after. Leftovers of a crash (`.*.tmp`) are
 * no keys.
 */
export function readKeyFiles(dir: string): StoredKey[] {
  if (!fs.existsSync(dir)) return []
  requirePrivateFolder(dir)
  const names = fs.readdirSync(dir).filter((name) => !name.startsWith('.') && !reservedFolders.has(name))
  return names.map((name) => readKeyFile(dir, name)).sort(compareByAge)
}

/** Durable when it returns: a crash leaves the old file or the new one, never a part. */
export function writeKeyFile(dir: string, key: StoredKey): void {
  writePrivateJson(dir, `${key.public_key.kid}.json`, storedKey.parse(key))
}

/** The same for any document beside the keys. */
export function writePrivateJson(dir: string, name: string, value: unknown): void {
  writePrivateText(dir, name, `${JSON.stringify(value, undefined, 2)}\n`)
}

export function writePrivateText(dir: string, name: string, text: string): void {
  prepareKeyFolder(dir)
  writeDurably(join(dir, name), text)
}

function readKeyFile(dir: string, name: string): StoredKey {
  const path = join(dir, name)
  if (!keyFilePattern.test(name)) throw new Error(`${path} is not a key file; move it out of the key folder`)
  const key = readKeyAt(path)
  if (`${key.public_key.kid}.json` === name) return key
  throw new Error(`${path} does not hold the key it is named after; restore it from a backup`)
}

/** One key wherever its file lies, under whatever name. Throws as `readKeyFiles` does, and when there is no such file. */
export function readKeyAt(path: string): StoredKey {
  const key = parseKeyFile(readSecretFile(path, { max_bytes: max_key_file_bytes }), path)
  const material = readKeyMaterial(key.public_key)
  if (!material) throw new Error(`${path} contains a key that is not valid for its algorithm; restore it from a backup`)
  if (!key.private_jwk) return key
  const own = parsePublicJwk(key.public_key.algorithm, key.private_jwk)
  if (JSON.stringify(own) !== JSON.stringify(material)) {
    throw new Error(`${path} holds a private key that does not belong to its public key; restore it from a backup`)
  }
  return key
}

/** Neither the parser's message nor the text goes into the error: either may quote the private key. */
function parseKeyFile(text: string, path: string): StoredKey {
  const content = parseJson(text)
  if (content === undefined) throw new Error(`${path} is not JSON; restore it from a backup`)
  const key = storedKey.safeParse(content)
  if (!key.success) throw new Error(`${path} is not a key file; restore it from a backup`)
  return key.data
}

export function requirePrivateFolder(dir: string): void {
  const { mode } = fs.statSync(dir)
  if ((mode & 0o077) === 0) return
  throw new Error(`${dir} can be read by others (mode ${(mode & 0o777).toString(8)}); run: chmod 700 ${dir}`)
}

function compareByAge(a: StoredKey, b: StoredKey): number {
  if (a.public_key.created !== b.public_key.created) return a.public_key.created < b.public_key.created ? -1 : 1
  return a.public_key.kid < b.public_key.kid ? -1 : 1
}
