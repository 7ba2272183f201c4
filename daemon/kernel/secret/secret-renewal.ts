// Housekeeping of secrets: a new data key when one is due, and older secrets encrypted by it.
import { iterateDocuments } from '../store/iterate-documents.ts'
import type { Collection, Doc, Store, StoredFields } from '../store/store.ts'
import type { DataKeys } from './data-key.ts'
import { type SealedSecret, sealedSecret } from './sealed-secret.ts'
import { listSecretFields } from './secret-fields.ts'
import type { SecretKeyring } from './secret-keyring.ts'
import { listDataKeys, openStoredKey, orLost, type StoredDataKey } from './stored-data-key.ts'

/**
 * A key encrypts new secrets for 90 days: 500 secrets a second for as long stay below the limit of random nonces
 * (2^32), and NIST SP 800-57 allows up to two years.
 */
const max_key_age_ms = 90 * 86_400_000
const max_reported = 100

/** `lost`: ids of documents whose secret cannot be opened any more, at most 100. */
export type RenewalReport = {
  readonly resealed: number
  readonly lost: readonly string[]
}

/**
 * One for each role of a process; several processes may run one over the same store. Each step stands alone: after a
 * crash the next run continues. A key that was replaced stays stored: another process may still seal by it, until its
 * next run, and a call may store later what it sealed before.
 */
export class SecretRenewal {
  readonly #store: Store
  readonly #keyring: SecretKeyring
  readonly #now: () => number
  /** By collection, the newest key when this process last compared all documents with it; undefined: there was none. */
  readonly #compared = new Map<string, string | undefined>()

  /** `now`: epoch milliseconds. */
  constructor(store: Store, keyring: SecretKeyring, now: () => number) {
    this.#store = store
    this.#keyring = keyring
    this.#now = now
  }

  /**
   * Encrypts secrets of older keys by the newest, and those that an earlier release stored as text. Reads the documents
   * once for each newest key, also one of another process, and again as long as a secret cannot be opened.
   */
  async run<T extends StoredFields>(
    source: DataKeys,
    within: Collection<T>,
    signal: AbortSignal,
  ): Promise<RenewalReport> {
    const newest = (await listDataKeys(this.#store, within.name)).at(-1)
    const isDue = newest !== undefined && (await this.#isDue(source, newest))
    if (isDue) await this.#keyring.replaceKey(source, within.name, newest)
    else this.#keyring.forgetCurrentKey(within.name)
    const isCompared = this.#compared.has(within.name) && this.#compared.get(within.name) === newest?.id
    if (isCompared && !isDue) return { resealed: 0, lost: [] }
    const report = await this.#resealDocuments(source, within, signal)
    if (signal.aborted || report.lost.length > 0) return report
    this.#compared.set(within.name, newest && (await this.#keyring.currentKey(source, within.name)).id)
    return report
  }

  async #isDue(source: DataKeys, newest: Doc<StoredDataKey>): Promise<boolean> {
    if (this.#now() - newest.value.created_ts >= max_key_age_ms) return true
    return !(await orLost(openStoredKey(source, newest)))?.is_current
  }

  async #resealDocuments<T extends StoredFields>(
    source: DataKeys,
    within: Collection<T>,
    signal: AbortSignal,
  ): Promise<RenewalReport> {
    const lost: string[] = []
    let resealed = 0
    const from = { list: (query: Parameters<Store['list']>[1]) => this.#store.list(within, query) }
    for await (const doc of iterateDocuments(from, { fresh: true })) {
      if (signal.aborted) break
      for (const field of listSecretFields(within)) {
        const secret = readSecret(doc.value, field)
        if (secret === undefined) continue
        const outcome = await this.#resealField(source, within, doc, field, secret)
        if (outcome === 'resealed') resealed += 1
        if (outcome === 'lost' && lost.length < max_reported) lost.push(doc.id)
      }
    }
    return { resealed, lost }
  }

  async #resealField<T extends StoredFields>(
    source: DataKeys,
    within: Collection<T>,
    { id, value }: Doc<T>,
    field: string,
    secret: SealedSecret | string,
  ): Promise<'current' | 'resealed' | 'lost'> {
    const document = { id, tenant_id: value.tenant_id }
    const current = await this.#keyring.currentKey(source, within.name)
    if (typeof secret === 'object' && secret.key === current.id) return 'current'
    const opened = typeof secret === 'object' ? this.#keyring.open(source, within, document, field, secret) : undefined
    const text = typeof secret === 'string' ? secret : opened && (await orLost(opened))
    if (text === undefined) return 'lost'
    const sealed = await this.#keyring.seal(source, within, document, field, text)
    const outcome = await this.#store.update(within, id, (stored) =>
      // A secret that changed meanwhile was sealed by the newest key.
      isSameSecret(readSecret(stored.value, field), secret)
        ? { next: { ...stored.value, [field]: sealed }, answer: 'resealed' as const }
        : { answer: 'current' as const },
    )
    return outcome === 'missing' ? 'current' : outcome.answer
  }
}

/** The sealed secret, or the text that an earlier release stored; undefined for an absent one. */
function readSecret(value: StoredFields, field: string): SealedSecret | string | undefined {
  const stored = (value as Readonly<Record<string, unknown>>)[field]
  if (typeof stored === 'string') return stored
  return sealedSecret.safeParse(stored).data
}

function isSameSecret(a: SealedSecret | string | undefined, b: SealedSecret | string): boolean {
  return typeof a === 'object' && typeof b === 'object' ? a.sealed === b.sealed && a.key === b.key : a === b
}
