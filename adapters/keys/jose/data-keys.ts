// Data keys for the roles of a site, by the wrapping keys in its key folder.
import { randomBytes } from 'node:crypto'
import {
  encryption_key_bytes,
  encryption_nonce_bytes,
} from '../../../daemon/kernel/cryptography/authenticated-encryption.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { type DataKeys, unwrapDataKey, wrapDataKey } from '../../../daemon/kernel/secret/data-key.ts'
import { openWrappingKey, readWrappingKeys, type StoredWrappingKey } from './wrapping-keys.ts'

export type WrappingKeyAccess = {
  /** The key folder of the site. */
  readonly dir: string
  readonly site: string
  readonly passphrase: () => string | undefined
}

/** The data keys of each role by name. Keys under a passphrase are opened once. */
export function keyFolderDataKeys({ dir, site, passphrase }: WrappingKeyAccess): (role: string) => DataKeys {
  const opened = new Map<string, Uint8Array>()
  const openOnce = async (stored: StoredWrappingKey) => {
    const key = opened.get(stored.kid) ?? (await orUnavailable(() => openWrappingKey(stored, passphrase)))
    opened.set(stored.kid, key)
    return key
  }
  return (role) => ({
    async create(collection) {
      const current = (await orUnavailable(() => readWrappingKeys(dir))).at(-1)
      if (!current) throw refuse('unavailable', 'the site has no wrapping key: restart role site, which creates one')
      const id = `dk_${randomBytes(16).toString('hex')}`
      const key = randomBytes(encryption_key_bytes)
      const scope = { site, role, collection }
      const wrapped = wrapDataKey(await openOnce(current), randomBytes(encryption_nonce_bytes), key, scope, id)
      return { id, wrapping_key: current.kid, wrapped, key }
    },
    async open(collection, data_key) {
      const keys = await orUnavailable(() => readWrappingKeys(dir))
      const stored = keys.find(({ kid }) => kid === data_key.wrapping_key)
      if (!stored)
        throw refuse('not_found', `the site has no wrapping key ${data_key.wrapping_key}: restore it to its key folder`)
      const key = unwrapDataKey(await openOnce(stored), data_key, { site, role, collection })
      if (!key) throw refuse('invalid', `the data key ${data_key.id} was altered, or is not one of this collection`)
      return { key, is_current: stored === keys.at(-1) }
    },
  })
}

/** Runs an access to the key folder. A fault of the folder or the passphrase can be repaired, so a retry may succeed. */
async function orUnavailable<T>(access: () => T | Promise<T>): Promise<T> {
  try {
    return await access()
  } catch (error) {
    throw refuse('unavailable', `the wrapping keys of the site cannot be read: ${(error as Error).name}`)
  }
}
