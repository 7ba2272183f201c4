// Housekeeping of secrets: a new data key when one is due, older secrets encrypted by it, unused keys removed.
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
/** A write of an ended process may still reach a cluster, which must not hold a secret without its key. */
const removal_delay_ms = 86_400_000
const max_reported = 100

/** `lost`: ids of documents whose secret cannot be opened any more, at most 100. */
export type RenewalReport = {
  readonly resealed: number
  readonly removed_keys: number
  readonly lost: readonly string[]
}

type RenewalPass = Omit<RenewalReport, 'removed_keys'> & {
  /** Keys other than the newest one that are still needed. */
  readonly used: ReadonlySet<string>
}

const emptyReport: RenewalReport = { resealed: 0, removed_keys: 0, lost: [] }

/** One for each role of a process. Each step stands alone: after a crash the next run continues. */
export class SecretRenewal {
  readonly #store: Store
  readonly #keyring: SecretKeyring
  readonly #now: () => number
  /** Keys by collection that an earlier process replaced: no call of this process holds a secret sealed by one. */
  readonly #replacedBefore = new Map<string, ReadonlySet<string>>()
  /** Collections whose documents this process has compared with the newest key. */
  readonly #compared = new Set<string>()

  /** `now`: epoch milliseconds. */
  constructor(store: Store, keyring: SecretKeyring, now: () => number) {
    this.#store = store
    this.#keyring = keyring
    this.#now = now
  }

  /**
   * Encrypts secrets of older keys by the newest, and those that an earlier release stored as text. Reads the documents
   * once in a process and as long as there are older keys.
   */
  async run<T extends StoredFields>(
    source: DataKeys,
    within: Collection<T>,
    signal: AbortSignal,
  ): Promise<RenewalReport> {
    const keys = await listDataKeys(this.#store, within.name)
    const newest = keys.at(-1)
    if (!this.#replacedBefore.has(within.name))
      this.#replacedBefore.set(within.name, new Set(keys.slice(0, -1).map(({ id }) => id)))
    const isDue = newest !== undefined && (await this.#isDue(source, newest))
    if (isDue) await this.#keyring.replaceKey(source, within.name, newest)
    if (this.#compared.has(within.name) && keys.length <= 1 && !isDue) return emptyReport
    const { used, ...pass } = await this.#resealDocuments(source, within, signal)
    if (signal.aborted) return { ...pass, removed_keys: 0 }
    this.#compared.add(within.name)
    return { ...pass, removed_keys: await this.#removeUnusedKeys(within.name, used) }
  }

  async #isDue(source: DataKeys, newest: Doc<StoredDataKey>): Promise<boolean> {
    if (this.#now() - newest.value.created_ts >= max_key_age_ms) return true
    return !(await orLost(openStoredKey(source, newest)))?.is_current
  }

  async #resealDocuments<T extends StoredFields>(
    source: DataKeys,
    within: Collection<T>,
    signal: AbortSignal,
  ): Promise<RenewalPass> {
    const used = new Set<string>()
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
        if (outcome !== 'lost' || typeof secret === 'string') continue
        used.add(secret.key)
        if (lost.length < max_reported) lost.push(doc.id)
      }
    }
    return { resealed, lost, used }
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

  /** A key goes only when an earlier process replaced it, its successor is a day old, and no document uses it. */
  async #removeUnusedKeys(name: string, used: ReadonlySet<string>): Promise<number> {
    const keys = await listDataKeys(this.#store, name)
    const newest = keys.at(-1)
    if (!newest || this.#now() - newest.value.created_ts < removal_delay_ms) return 0
    const replaced = this.#replacedBefore.get(name)
    const unused = keys.filter(({ id }) => id !== newest.id && replaced?.has(id) && !used.has(id))
    for (const { id } of unused) await this.#keyring.removeKey(id)
    return unused.length
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
