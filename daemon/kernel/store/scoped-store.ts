// A collection as one caller sees it: tenant and clearance are enforced here, for all operations.
import type { AuditEvent } from '../audit/audit-chain.ts'
import { isRefusal, Refusal, refuse } from '../error/errors.ts'
import { noSuchObject } from '../error/missing-object.ts'
import type { Caller } from '../identity/identity.ts'
import { dominates, type Label, type LabelPolicy } from '../label/label.ts'
import { abortRefusal } from '../operation/until-aborted.ts'
import type {
  AnyCollection,
  Collection,
  Doc,
  DocumentPage,
  DocumentTotal,
  Filter,
  Freshness,
  ListQuery,
  ReadScope,
  Scalar,
  ScrubOutcome,
  Store,
  StoredFields,
  StoreWrite,
  UpdateStep,
  WriteOutcome,
} from './store.ts'

export interface ScopedStore<T extends StoredFields> {
  /** Throws `Refusal('not_found')` when the caller may see no such document. */
  get(id: string): Promise<Doc<T>>
  find(id: string): Promise<Doc<T> | undefined>
  /** Throws `Refusal('not_your_tenant')` or `Refusal('label_denied')` for an object that the caller could not read. */
  create(id: string, value: T, audit?: readonly AuditEvent[]): Promise<Doc<T> | 'exists'>
  /**
   * Compare-and-swap around a pure rule; honours If-Match; another tenant's object is `not_your_tenant`, also one that the
   * rule would move to another tenant. Throws `Refusal('label_denied')` for a label that the caller may not give.
   */
  update<R>(id: string, rule: (current: Doc<T>) => UpdateStep<T, R>): Promise<{ doc: Doc<T>; answer: R }>
  /** Throws `Refusal('conflict')` for a document that changes meanwhile, or that has another version than the one given. */
  remove(id: string, audit?: readonly AuditEvent[], version?: number): Promise<void>
  /**
   * Independent writes in order, not a transaction. Only for a service of the site: labels and stored documents are not
   * checked.
   */
  bulk(writes: readonly ScopedBulkWrite<T>[]): Promise<WriteOutcome[]>
  /** Only for a service of the site: files hold the documents of all tenants. */
  scrub(also?: readonly AnyCollection[]): Promise<ScrubOutcome>
  list(query: ListQuery): Promise<DocumentPage<T>>
  /** A page of a list for callers: with the number of documents in the whole list. */
  page(query: ListQuery): Promise<CountedPage<T>>
  /** Number of documents of a whole list for callers, at a bounded cost. */
  total(filter?: Filter, freshness?: Freshness): Promise<DocumentTotal>
  count(filter?: Filter): Promise<number>
  countBy(field: string, filter?: Filter): Promise<Map<Scalar, number>>
}

export type CountedPage<T> = DocumentPage<T> & DocumentTotal

/** Largest total of a list that is counted to the end: some 10 ms in one file. */
const counted_documents_max = 10_000

export type ScopedBulkWrite<T extends StoredFields> =
  | Omit<Extract<StoreWrite<T>, { do: 'create' }>, 'collection'>
  | Omit<Extract<StoreWrite<T>, { do: 'put' }>, 'collection'>

export type StoreScope = {
  readonly caller: Caller
  readonly labels: LabelPolicy
  readonly if_match: number | undefined
  /** Aborted once the call may change nothing more. */
  readonly end?: AbortSignal | undefined
  /** Called with the object of a refused change. */
  readonly onRefusal: (id: string, label: Label | undefined) => void
}

export function scopedStore<T extends StoredFields>(
  store: Store,
  collection: Collection<T>,
  scope: StoreScope,
): ScopedStore<T> {
  const find = async (id: string) => {
    const doc = await store.get(collection, id)
    return doc && mayRead(scope, doc.value) ? doc : undefined
  }
  const list = (query: ListQuery) =>
    store.list(collection, { ...query, ...confineQuery(scope, query), ...readScopeOf(scope) })
  const total = (filter?: Filter, freshness: Freshness = {}) =>
    store.countUpTo(collection, counted_documents_max, confineFilter(scope, filter), {
      ...freshness,
      ...readScopeOf(scope),
    })
  return {
    find,
    async get(id) {
      return (await find(id)) ?? throwNotFound(collection)
    },
    async create(id, value, audit) {
      assertOpen(scope)
      assertMayCreate(scope, collection, value)
      return store.create(collection, id, value, audit)
    },
    async update(id, rule) {
      const outcome = await store.update(collection, id, (current) => {
        assertOpen(scope)
        assertMayChange(scope, collection, current)
        const step = rule(current)
        if (isRefusal(step.answer)) scope.onRefusal(id, current.value.label as Label | undefined)
        if (step.next) assertMayMove(scope, collection, current.value, step.next)
        return step
      })
      return outcome === 'missing' ? throwNotFound(collection) : outcome
    },
    async remove(id, audit, version) {
      const doc = await store.get(collection, id)
      if (!doc) return throwNotFound(collection)
      assertOpen(scope)
      assertMayChange(scope, collection, doc)
      const outcome = await store.remove(collection, id, version ?? doc.version, audit)
      if (outcome === 'conflict') throw refuse('conflict', `the ${collection.name} changed meanwhile`)
    },
    async scrub(also = []) {
      assertService(scope, `scrub ${collection.name}`)
      return await store.scrub([collection, ...also])
    },
    async bulk(writes) {
      assertService(scope, `write ${collection.name} in bulk`)
      assertOpen(scope)
      for (const { value } of writes) assertMayCreate(scope, collection, value)
      return await store.bulk(writes.map((write) => ({ ...write, collection }) as unknown as StoreWrite))
    },
    list,
    total,
    async page(query) {
      const page = await list(query)
      if (query.cursor === undefined && page.next_cursor === undefined)
        return { ...page, total: page.docs.length, total_is: 'exact' }
      const counted = await total(query.filter, query.fresh ? { fresh: true } : {})
      // Documents may have gone since, or the count ended early: what is on the page is there.
      const seen = page.docs.length + (page.next_cursor === undefined ? 0 : 1)
      return { ...page, ...counted, total: Math.max(counted.total, seen) }
    },
    count: (filter) => store.count(collection, confineFilter(scope, filter), readScopeOf(scope)),
    countBy: (field, filter) => store.countBy(collection, field, confineFilter(scope, filter), readScopeOf(scope)),
  }
}

function throwNotFound(collection: { name: string }): never {
  throw noSuchObject(collection.name)
}

function assertService({ caller: { tenant_id, subject } }: StoreScope, to: string): void {
  if (tenant_id !== '*') throw new TypeError(`${subject} must be a service of the site to ${to}`)
}

/** Work that ignores its abort must change nothing after the answer. */
function assertOpen({ end }: StoreScope): void {
  if (end?.aborted) throw abortRefusal(end)
}

/** Whether the caller acts for the tenant, which is its own or any that a service of the site is not kept from. */
function isTenantOf({ tenant_id, only_tenant }: Caller, value: StoredFields): boolean {
  return tenant_id === '*'
    ? only_tenant === undefined || value.tenant_id === only_tenant
    : value.tenant_id === tenant_id
}

function mayRead(scope: StoreScope, value: StoredFields): boolean {
  const { caller } = scope
  if (!isTenantOf(caller, value)) return false
  if (caller.tenant_id === '*') return true
  return value.label === undefined || dominates(caller, value.label as Label, scope.labels)
}

/** Refuses objects that their own creator could not read: above its clearance, or of another tenant. */
function assertMayCreate(scope: StoreScope, collection: { name: string }, value: StoredFields): void {
  if (mayRead(scope, value)) return
  if (!isTenantOf(scope.caller, value))
    throw refuse('not_your_tenant', `the ${collection.name} would not belong to the caller's tenant`)
  throw refuse('label_denied', `the label of the ${collection.name} is above the caller's clearance`)
}

/** Refuses a change that takes an object out of its tenant or its label, or to a label that the caller could not give it. */
function assertMayMove(scope: StoreScope, collection: { name: string }, from: StoredFields, to: StoredFields): void {
  if (to.tenant_id !== from.tenant_id) throw refuse('not_your_tenant', `the ${collection.name} stays in its tenant`)
  if (from.label !== undefined && to.label === undefined)
    throw refuse('label_denied', `the ${collection.name} stays under a label`)
  assertMayCreate(scope, collection, to)
}

function assertMayChange<T extends StoredFields>(scope: StoreScope, collection: Collection<T>, current: Doc<T>): void {
  const { caller, if_match } = scope
  if (!isTenantOf(caller, current.value)) {
    throw refuse('not_your_tenant', `the ${collection.name} belongs to another tenant`)
  }
  if (!mayRead(scope, current.value)) throwNotFound(collection)
  if (if_match === undefined) return
  const version = collection.revision ? collection.revision(current.value, current.version) : current.version
  if (version !== undefined && if_match !== version) {
    throw new Refusal('precondition_failed', `the current version is ${version}`)
  }
}

/** Adds the tenant of a confined service to a filter, which may name no other. */
function confineFilter({ caller: { only_tenant } }: StoreScope, filter: Filter | undefined): Filter | undefined {
  if (only_tenant === undefined) return filter
  const { tenant_id = only_tenant } = filter ?? {}
  if (tenant_id !== only_tenant) throw new TypeError(`a service of the tenant ${only_tenant} may not list another`)
  return { ...filter, tenant_id }
}

function confineQuery(scope: StoreScope, { filter }: ListQuery): { filter?: Filter } {
  const confined = confineFilter(scope, filter)
  return confined ? { filter: confined } : {}
}

/** The read scope of the caller; empty for a caller that acts for every tenant. */
function readScopeOf({ caller, labels }: StoreScope): { read_scope?: ReadScope } {
  if (caller.tenant_id === '*') return {}
  return { read_scope: { viewer: { clearance: caller.clearance, tenant_id: caller.tenant_id }, policy: labels } }
}
