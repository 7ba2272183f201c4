// Wrapping keys of the site, which encrypt the data keys of its roles: one file each, in a folder beside the other keys.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { encryption_key_bytes } from '../../../daemon/kernel/cryptography/authenticated-encryption.ts'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { wrappingKeyId } from '../../../daemon/kernel/secret/data-key.ts'
import { readSecretFile } from '../../platform/secret-file/read-secret-file.ts'
import { requirePrivateFolder, writePrivateJson } from './key-files.ts'
import { decryptByPassphrase, encryptByPassphrase, KeyLockedError } from './wrapped-key.ts'

/** `key`: the key in the open, base64url. `jwe`: the key under a passphrase. */
const storedWrappingKey = z
  .strictObject({
    kid: wrappingKeyId,
    created: z.iso.datetime(),
    key: z.base64url().length(43).optional(),
    jwe: z.string().max(4_096).optional(),
  })
  .refine(({ key, jwe }) => (key === undefined) !== (jwe === undefined))
export type StoredWrappingKey = z.infer<typeof storedWrappingKey>

export type WrappingKeyOptions = {
  /** Epoch milliseconds. */
  readonly now: number
  /** Passphrase to encrypt the key with; default: not encrypted. */
  readonly passphrase?: string | undefined
}

/**
 * Creates a wrapping key, which is the current one from then on; earlier ones still open what they wrapped. It is later
 * than them also where the clock was set back.
 */
export async function createWrappingKey(
  dir: string,
  { now, passphrase }: WrappingKeyOptions,
): Promise<StoredWrappingKey> {
  const latest = readWrappingKeys(dir).at(-1)
  const created = new Date(Math.max(now, latest ? Date.parse(latest.created) + 1 : 0)).toISOString()
  const kid = `secret-${randomBytes(12).toString('base64url')}`
  const key = { kid, created, key: randomBytes(encryption_key_bytes).toString('base64url') }
  const stored = passphrase === undefined ? key : await encryptWrappingKey(key, passphrase)
  writeWrappingKey(dir, stored)
  return stored
}

/** All wrapping keys of a key folder, oldest first; the last is the current one. Throws an Error with its remedy. */
export function readWrappingKeys(dir: string): StoredWrappingKey[] {
  const folder = wrappingKeyFolder(dir)
  if (!fs.existsSync(folder)) return []
  requirePrivateFolder(folder)
  const names = fs.readdirSync(folder).filter((name) => !name.startsWith('.'))
  return names.map((name) => readWrappingKey(join(folder, name), name)).sort(compareByAge)
}

/** Puts every wrapping key under the passphrase; the kids of those that were in the open. */
export async function encryptWrappingKeys(dir: string, passphrase: string): Promise<string[]> {
  const open = readWrappingKeys(dir).filter(({ jwe }) => jwe === undefined)
  for (const key of open) writeWrappingKey(dir, await encryptWrappingKey(key, passphrase))
  return open.map(({ kid }) => kid)
}

/** Decrypts them again. Throws `KeyLockedError` before anything is written. */
export async function decryptWrappingKeys(dir: string, passphrase: string): Promise<string[]> {
  const locked = readWrappingKeys(dir).filter(({ jwe }) => jwe !== undefined)
  const opened = await Promise.all(
    locked.map(async (key) => ({ stored: key, key: await openWrappingKey(key, () => passphrase) })),
  )
  for (const { stored, key } of opened) {
    const { kid, created } = stored
    writeWrappingKey(dir, { kid, created, key: Buffer.from(key).toString('base64url') })
  }
  return locked.map(({ kid }) => kid)
}

/** The 32 bytes of the key. Throws `KeyLockedError`. */
export async function openWrappingKey(
  { kid, key, jwe }: StoredWrappingKey,
  passphrase: () => string | undefined,
): Promise<Uint8Array> {
  if (jwe === undefined) return Buffer.from(key ?? '', 'base64url')
  const given = passphrase()
  if (given === undefined) throw new KeyLockedError(kid, 'no_passphrase')
  const opened = await decryptByPassphrase(jwe, given)
  if (opened?.length !== encryption_key_bytes) throw new KeyLockedError(kid, 'wrong_passphrase')
  return opened
}

function wrappingKeyFolder(dir: string): string {
  return join(dir, 'secrets')
}

function writeWrappingKey(dir: string, key: StoredWrappingKey): void {
  writePrivateJson(wrappingKeyFolder(dir), `${key.kid}.json`, storedWrappingKey.parse(key))
}

async function encryptWrappingKey(stored: StoredWrappingKey, passphrase: string): Promise<StoredWrappingKey> {
  const { kid, created, key } = stored
  if (key === undefined) return stored
  return { kid, created, jwe: await encryptByPassphrase(Buffer.from(key, 'base64url'), passphrase) }
}

/** Neither the parser's message nor the text goes into the error: either may quote the key. */
function readWrappingKey(path: string, name: string): StoredWrappingKey {
  const parsed = parseJsonAs(storedWrappingKey, readSecretFile(path))
  if (parsed && `${parsed.kid}.json` === name) return parsed
  throw new Error(`${path} is not the wrapping key that it is named after; restore it from a backup`)
}

function compareByAge(a: StoredWrappingKey, b: StoredWrappingKey): number {
  return Date.parse(a.created) - Date.parse(b.created) || (a.kid < b.kid ? -1 : 1)
}
