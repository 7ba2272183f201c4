// The public keys that verify tokens of the site: one file, which every process reads and only the site writes.
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { readKeyMaterial } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import { publicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { writeDurably } from '../../platform/durable-file/write-durably.ts'
import type { KeyCheckInterval } from './key-folder.ts'

/** A key of use `token`. One with `only_subject` (`role:<name>`) is valid for the tokens of that role of the site only. */
export const tokenKey = publicKey.safeExtend({
  use: z.literal('token'),
  only_subject: z
    .string()
    .regex(/^role:[a-z][a-z0-9-]{0,62}$/)
    .optional(),
})
export type TokenKey = z.infer<typeof tokenKey>

const tokenKeyFile = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.token-keys'),
  keys: z.array(tokenKey).max(1_024),
})
const max_list_bytes = 4_194_304

/** Coarsest step of a file system's clock: a file changed twice within one shows the same time for both. */
const timestamp_step_ms = 2_000

export interface TokenKeyList {
  /** Throws `Refusal('unavailable')` when the file is absent, can be written by others, or holds anything else. */
  keys(): readonly TokenKey[]
  /** Changes whenever the keys may have: what was derived from keys under another stamp must be derived anew. */
  stamp(): string
}

/** The list as a running process sees it: one `stat` a look, read again after a change. */
export function openTokenKeys(file: string, interval: KeyCheckInterval): TokenKeyList {
  let held: readonly TokenKey[] = []
  let heldStamp: string | undefined
  let generation = 0
  let lookedAt = Number.NEGATIVE_INFINITY

  const look = () => {
    const now = interval.monotonic()
    if (now - lookedAt < interval.every_ms) return
    const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
    const onDisk = stat && `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`
    if (onDisk === undefined || onDisk !== heldStamp) {
      heldStamp = undefined
      const keys = readTokenKeys(file)
      if (JSON.stringify(keys) !== JSON.stringify(held)) generation += 1
      held = keys
      // The wall clock, not the injected one: it is compared with the times of the file system.
      if (stat && Math.abs(Date.now() - Number(stat.ctimeMs)) > timestamp_step_ms) heldStamp = onDisk
    }
    lookedAt = now
  }

  return {
    keys: () => {
      look()
      return held
    },
    stamp: () => {
      look()
      return String(generation)
    },
  }
}

/** Throws as `TokenKeyList.keys` does. */
export function readTokenKeys(file: string): TokenKey[] {
  try {
    return parseTokenKeys(readTrustedFile(file))
  } catch {
    throw new Refusal('unavailable', 'the list of token keys cannot be read')
  }
}

/** Throws for a text that is not a list, or a list with an invalid key. */
export function parseTokenKeys(text: string): TokenKey[] {
  const { keys } = tokenKeyFile.parse(parseJson(text))
  const names = new Set(keys.flatMap(({ kid, fingerprint }) => [kid, fingerprint]))
  // A key under two names would be bound under the one and free under the other.
  if (names.size !== 2 * keys.length || !keys.every(readKeyMaterial))
    throw new Error('a key is invalid or listed twice')
  return keys
}

/** Durable when it returns: a crash leaves the old list or the new one. As open as its folder, and no more. */
export function writeTokenKeys(file: string, keys: readonly TokenKey[]): void {
  const content = tokenKeyFile.parse({ v: 1, type: 'platform.token-keys', keys })
  writeDurably(file, (opened) => {
    fs.writeFileSync(opened, `${JSON.stringify(content, undefined, 2)}\n`)
    copyGroupAccess(opened, fs.statSync(dirname(file)))
  })
}

/** Lets the group of the folder read the file, if it may read the folder. */
export function copyGroupAccess(file: number, folder: fs.Stats): void {
  if ((folder.mode & 0o040) === 0) return
  const { uid, gid } = fs.fstatSync(file)
  if (gid !== folder.gid) fs.fchownSync(file, uid, folder.gid)
  fs.fchmodSync(file, 0o640)
}

/** A file, or its folder, that others may write to is theirs to fill. */
function readTrustedFile(path: string): string {
  if ((fs.statSync(dirname(path)).mode & 0o022) !== 0) throw new Error('others may replace the list')
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stat = fs.fstatSync(file)
    if (!stat.isFile() || (stat.mode & 0o022) !== 0) throw new Error('others may change the list')
    if (stat.size > max_list_bytes) throw new Error('the list is too long')
    return fs.readFileSync(file, 'utf8')
  } finally {
    fs.closeSync(file)
  }
}
