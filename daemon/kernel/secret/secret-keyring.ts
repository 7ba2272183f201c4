// The data keys of a role in use: created and opened on demand, kept in memory, and never shown.

import type * as z from 'zod'
import { encryption_nonce_bytes } from '../cryptography/authenticated-encryption.ts'
import { refuse } from '../error/errors.ts'
import { part } from '../role/part.ts'
import type { Doc, Store, StoredFields } from '../store/store.ts'
import type { DataKeys } from './data-key.ts'
import {
  type IdentifiedDataKey,
  openSealedSecret,
  type SealedSecret,
  type SecretPlace,
  sealSecret,
} from './sealed-secret.ts'
import { dataKeys, listDataKeys, openStoredKey, orLost, type StoredDataKey } from './stored-data-key.ts'

/** A collection of any documents. */
export type SecretCollection = { readonly name: string; readonly schema: z.ZodType<StoredFields> }
export type SecretDocument = { readonly id: string; readonly tenant_id: string }

export type KeyringOptions = {
  readonly store: Store
  /** The tenant of the site, to which its keys belong. */
  readonly tenant_id: string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** `bytes` random bytes as hexadecimal. */
  readonly random: (bytes: number) => string
}

/**
 * One for each role of a process. Processes over one store may encrypt by different keys for a while, all of which stay
 * stored. Each method opens wrapped keys through the `DataKeys` of its caller, in the trace of the call.
 */
export class SecretKeyring {
  readonly #options: KeyringOptions
  readonly #current = new Map<string, Promise<IdentifiedDataKey>>()
  readonly #opened = new Map<string, Promise<IdentifiedDataKey>>()

  constructor(options: KeyringOptions) {
    this.#options = options
  }

  /** Encrypts a text for a field of a document that exists or is about to. */
  async seal(
    source: DataKeys,
    within: SecretCollection,
    document: SecretDocument,
    field: string,
    text: string,
  ): Promise<SealedSecret> {
    const nonce = Buffer.from(this.#options.random(encryption_nonce_bytes), 'hex')
    return sealSecret(await this.currentKey(source, within.name), nonce, text, placeOf(within, document, field))
  }

  /**
   * Throws `Refusal('internal')` for a secret that was altered or moved, or whose keys are lost, and
   * `Refusal('unavailable')` while its keys cannot be read.
   */
  async open(
    source: DataKeys,
    within: SecretCollection,
    document: SecretDocument,
    field: string,
    secret: SealedSecret,
  ): Promise<string> {
    const key = await orLost(remember(this.#opened, secret.key, () => this.#loadKey(source, secret.key)))
    if (!key) throw refuse('internal', `the secret ${field} of this ${within.name} cannot be read: its key is lost`)
    const text = openSealedSecret(key, secret, placeOf(within, document, field))
    if (text === undefined)
      throw refuse('internal', `the secret ${field} of this ${within.name} was altered, or belongs to another document`)
    return text
  }

  /** The key for new secrets of a collection. Concurrent calls share one request, so that they create one key. */
  currentKey(source: DataKeys, name: string): Promise<IdentifiedDataKey> {
    return remember(this.#current, name, () => this.#loadCurrentKey(source, name))
  }

  /** New secrets get a new key from now on. The wrapped key is durable when it resolves. */
  async replaceKey(source: DataKeys, name: string, newest: Doc<StoredDataKey>): Promise<void> {
    this.#current.set(name, Promise.resolve(await this.#createKey(source, name, newest)))
  }

  /** The next secret looks for the newest key again, which another process may have created. */
  forgetCurrentKey(name: string): void {
    this.#current.delete(name)
  }

  async #loadCurrentKey(source: DataKeys, name: string): Promise<IdentifiedDataKey> {
    const newest = (await listDataKeys(this.#options.store, name)).at(-1)
    if (!newest) return await this.#createKey(source, name)
    const opened = await orLost(remember(this.#opened, newest.id, () => this.#loadKey(source, newest.id)))
    // New secrets must not depend on a key that is gone.
    return opened ?? (await this.#createKey(source, name, newest))
  }

  /** The wrapped key is durable before the key encrypts anything. */
  async #createKey(source: DataKeys, name: string, newest?: Doc<StoredDataKey>): Promise<IdentifiedDataKey> {
    const { key, id, ...wrapped } = await source.create(name)
    const { store, tenant_id, now } = this.#options
    // Later than its predecessor, also where the clock was set back.
    const created_ts = Math.max(now(), (newest?.value.created_ts ?? 0) + 1)
    const created = await store.create(dataKeys, id, { tenant_id, collection: name, created_ts, ...wrapped })
    if (created === 'exists') throw new Error(`the data key ${id} exists already`)
    this.#opened.set(id, Promise.resolve({ id, key }))
    return { id, key }
  }

  async #loadKey(source: DataKeys, id: string): Promise<IdentifiedDataKey> {
    const stored = await this.#options.store.get(dataKeys, id)
    if (!stored) throw refuse('internal', `the data key ${id} is not stored beside its secrets`)
    return { id, key: (await openStoredKey(source, stored)).key }
  }
}

/** A part of each role with secret fields. */
export const secretKeyringPart = part<SecretKeyring>('secret-keyring')

function placeOf({ name }: SecretCollection, { id, tenant_id }: SecretDocument, field: string): SecretPlace {
  return { collection: name, id, tenant_id, field }
}

/** The cached promise; a failure is not cached. */
function remember<V>(cache: Map<string, Promise<V>>, name: string, load: () => Promise<V>): Promise<V> {
  const known = cache.get(name)
  if (known) return known
  const loading = load()
  cache.set(name, loading)
  loading.catch(() => cache.get(name) === loading && cache.delete(name))
  return loading
}
