// A collection as one caller sees it: tenant and clearance are applied here, once, so that no verb can forget them.
import type { AuditEvent } from '../audit/audit-chain.ts'
import { isRefusal, Refusal, refuse } from '../error/errors.ts'
import type { Caller } from '../identity/identity.ts'
import { dominates, type Label, type LabelPolicy } from '../label/label.ts'
import type {
  Collection,
  Doc,
  DocumentPage,
  Filter,
  ListQuery,
  ReadScope,
  Scalar,
  Store,
  StoredFields,
  StoreWrite,
  UpdateStep,
  WriteOutcome,
} from './store.ts'

export interface ScopedStore<T extends StoredFields> {
  /** `Refusal('not_found')` is thrown when there is none that this caller may know of. */
  get(id: string): Promise<Doc<T>>
  find(id: string): Promise<Doc<T> | undefined>
  /** Throws `Refusal('not_your_tenant')` or `Refusal('label_denied')` for an object that the caller could not read. */
  create(id: string, value: T, audit?: readonly AuditEvent[]): Promise<Doc<T> | 'exists'>
  /** Compare-and-swap around a pure rule; honours If-Match; another tenant's object is `not_your_tenant`. */
  update<R>(id: string, rule: (current: Doc<T>) => UpdateStep<T, R>): Promise<{ doc: Doc<T>; answer: R }>
  remove(id: string, audit?: readonly AuditEvent[]): Promise<void>
  /**
   * Independent writes in order, not a transaction. Only for a caller that acts for every tenant: none of them is
   * checked.
   */
  bulk(writes: readonly ScopedBulkWrite<T>[]): Promise<WriteOutcome[]>
  list(query: ListQuery): Promise<DocumentPage<T>>
  count(filter?: Filter): Promise<number>
  countBy(field: string, filter?: Filter): Promise<Map<Scalar, number>>
}

export type ScopedBulkWrite<T extends StoredFields> =
  | Omit<Extract<StoreWrite<T>, { do: 'create' }>, 'collection'>
  | Omit<Extract<StoreWrite<T>, { do: 'put' }>, 'collection'>

export type StoreScope = {
  readonly caller: Caller
  readonly labels: LabelPolicy
  readonly if_match: number | undefined
  /** Called with an object when a change of it is refused. */
  readonly onRefusal: (id: string, label: Label | undefined) => void
}

export function scopedStore<T extends StoredFields>(
  store: Store,
  of: Collection<T>,
  scope: StoreScope,
): ScopedStore<T> {
  const find = async (id: string) => {
    const doc = await store.get(of, id)
    return doc && mayRead(scope, doc.value) ? doc : undefined
  }
  return {
    find,
    async get(id) {
      return (await find(id)) ?? throwNotFound(of)
    },
    async create(id, value, audit) {
      assertMayCreate(scope, of, value)
      return store.create(of, id, value, audit)
    },
    async update(id, rule) {
      const done = await store.update(of, id, (current) => {
        assertMayChange(scope, of, current)
        const step = rule(current)
        if (isRefusal(step.answer)) scope.onRefusal(id, current.value.label as Label | undefined)
        return step
      })
      return done === 'missing' ? throwNotFound(of) : done
    },
    async remove(id, audit) {
      const doc = await store.get(of, id)
      if (!doc) return throwNotFound(of)
      assertMayChange(scope, of, doc)
      const outcome = await store.remove(of, id, doc.version, audit)
      if (outcome === 'conflict') throw refuse('conflict', `the ${of.name} changed meanwhile`)
    },
    async bulk(writes) {
      if (scope.caller.tenant_id !== '*')
        throw new TypeError(`${scope.caller.subject} may not write many ${of.name} at once`)
      return await store.bulk(writes.map((write) => ({ ...write, collection: of }) as unknown as StoreWrite))
    },
    list: (query) => store.list(of, { ...query, ...readScopeOf(scope) }),
    count: (filter) => store.count(of, filter, readScopeOf(scope)),
    countBy: (field, filter) => store.countBy(of, field, filter, readScopeOf(scope)),
  }
}

function throwNotFound(of: { name: string }): never {
  throw refuse('not_found', `there is no such ${of.name}`)
}

function mayRead(scope: StoreScope, value: StoredFields): boolean {
  const { caller } = scope
  if (caller.tenant_id === '*') return true
  if (value.tenant_id !== caller.tenant_id) return false
  return value.label === undefined || dominates(caller, value.label as Label, scope.labels)
}

/** A caller that could write above its clearance, or for another tenant, would lose sight of its own object. */
function assertMayCreate(scope: StoreScope, of: { name: string }, value: StoredFields): void {
  if (mayRead(scope, value)) return
  if (value.tenant_id !== scope.caller.tenant_id)
    throw refuse('not_your_tenant', `the ${of.name} would belong to another tenant than the caller's`)
  throw refuse('label_denied', `the label of the ${of.name} is above the caller's clearance`)
}

function assertMayChange<T extends StoredFields>(scope: StoreScope, of: Collection<T>, current: Doc<T>): void {
  const { caller, if_match } = scope
  if (caller.tenant_id !== '*' && current.value.tenant_id !== caller.tenant_id) {
    throw refuse('not_your_tenant', `the ${of.name} belongs to another tenant`)
  }
  if (!mayRead(scope, current.value)) throwNotFound(of)
  const version = of.revision?.(current.value) ?? current.version
  if (if_match !== undefined && if_match !== version) {
    throw new Refusal('precondition_failed', `the current version is ${version}`)
  }
}

/** Empty for a caller that acts for every tenant. */
function readScopeOf({ caller, labels }: StoreScope): { read_scope?: ReadScope } {
  if (caller.tenant_id === '*') return {}
  return { read_scope: { viewer: { clearance: caller.clearance, tenant_id: caller.tenant_id }, policy: labels } }
}
