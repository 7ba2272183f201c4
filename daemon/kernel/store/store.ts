// The document store as every adapter can keep it: one document at a time, optimistic versions, declared indexes.
import type * as z from 'zod'
import type { AuditEvent } from '../audit/audit-chain.ts'
import { type Label, type LabelPolicy, labelKey, type Viewer } from '../label/label.ts'

/** Fields that every stored document has besides its own. */
export type StoredFields = { tenant_id: string; label?: unknown; expires_ts?: number | undefined }

/** `label_key` of a document: empty when it carries no label. */
export function labelKeyOf({ label }: StoredFields): string {
  return label === undefined || label === null ? '' : labelKey(label as Label)
}

/**
 * A collection. `indexes` are top-level fields with scalar values; lists, counts and histograms filter and order by
 * them only. `tenant_id`, `label_key` (derived from `label`) and `expires_ts` are always indexed.
 */
export type Collection<T extends StoredFields = StoredFields> = {
  readonly name: string
  readonly schema: z.ZodType<T>
  readonly indexes: readonly (keyof T & string)[]
  /**
   * Lists whose cost must not grow with the collection: the indexes that are filtered by one value each, then the one
   * that they are ordered by. An index and `label_key` alone: counts by its values, for a viewer that may not see all of them.
   */
  readonly orders?: readonly (readonly ((keyof T & string) | 'label_key')[])[]
  /**
   * The version as callers know it, where writes that only keep the books must not be a change to them; else the
   * store's.
   */
  readonly revision?: (value: T) => number
}

export function collection<T extends StoredFields>(given: Collection<T>): Collection<T> {
  return given
}

/** A collection where its documents' shape does not matter. */
export type AnyCollection = {
  readonly name: string
  readonly indexes: readonly string[]
  readonly orders?: readonly (readonly string[])[]
}

export type Doc<T> = { readonly id: string; readonly version: number; readonly value: T }

export type Scalar = string | number | boolean
export type FilterCondition =
  | Scalar
  | { readonly in: readonly Scalar[] }
  | { readonly gte?: Scalar; readonly gt?: Scalar; readonly lte?: Scalar; readonly lt?: Scalar }
  | { readonly exists: boolean }
/** Field (an index, `tenant_id`, `label_key` or `expires_ts`) to condition; all must hold. */
export type Filter = Readonly<Record<string, FilterCondition>>

/**
 * `fresh`: see every acknowledged write, at a cost. SQLite always does; a cluster's answer lags by a second without.
 */
export type Freshness = { readonly fresh?: boolean }

/**
 * What somebody may know of: documents of the viewer's tenant without a label, or with one that the viewer dominates.
 * A store derives these from the viewer, and never from the labels that it has found.
 */
export type ReadScope = { readonly viewer: Viewer; readonly policy: LabelPolicy }
export type ReadOptions = Freshness & { readonly read_scope?: ReadScope }

export type ListQuery = ReadOptions & {
  readonly filter?: Filter
  /** An index field; ties are broken by id, so that a cursor never skips or repeats. Default: by id, ascending. */
  readonly order?: { readonly field: string; readonly direction: 'asc' | 'desc' }
  readonly limit: number
  /** Opaque, from the previous page of the same query. A foreign or altered one is `Refusal('malformed')`. */
  readonly cursor?: string
}

export type DocumentPage<T> = { readonly docs: readonly Doc<T>[]; readonly next_cursor?: string }

/** Result of the rule of one update: the next value (absent: no change), an answer for the caller, audit events. */
export type UpdateStep<T, R> = { readonly next?: T; readonly answer: R; readonly audit?: readonly AuditEvent[] }

export type StoreWrite<T extends StoredFields = StoredFields> =
  | { readonly do: 'create'; readonly collection: Collection<T>; readonly id: string; readonly value: T }
  | {
      readonly do: 'put'
      readonly collection: Collection<T>
      readonly id: string
      readonly value: T
      readonly version: number
    }
  | { readonly do: 'remove'; readonly collection: Collection<T>; readonly id: string; readonly version?: number }

export type WriteOutcome = 'done' | 'exists' | 'conflict' | 'missing'

/**
 * Every promise of a write resolves only when the write is durable. Values are parsed by the collection's schema on
 * the way in, and are plain JSON. A failing disk or cluster is `Refusal('unavailable')`.
 */
export interface Store {
  readonly name: 'sqlite' | 'opensearch'
  get<T extends StoredFields>(from: Collection<T>, id: string): Promise<Doc<T> | undefined>
  create<T extends StoredFields>(
    into: Collection<T>,
    id: string,
    value: T,
    audit?: readonly AuditEvent[],
  ): Promise<Doc<T> | 'exists'>
  /** Compare-and-swap: `conflict` when the stored version is another, `missing` when there is none. */
  put<T extends StoredFields>(
    into: Collection<T>,
    id: string,
    value: T,
    version: number,
    audit?: readonly AuditEvent[],
  ): Promise<Doc<T> | 'conflict' | 'missing'>
  /** Compare-and-swap with retry around a pure rule, which may run more than once. */
  update<T extends StoredFields, R>(
    into: Collection<T>,
    id: string,
    rule: (current: Doc<T>) => UpdateStep<T, R>,
  ): Promise<{ doc: Doc<T>; answer: R } | 'missing'>
  remove<T extends StoredFields>(
    from: Collection<T>,
    id: string,
    version?: number,
    audit?: readonly AuditEvent[],
  ): Promise<Exclude<WriteOutcome, 'exists'>>
  /** Independent writes in order, each with its own outcome; not a transaction. */
  bulk(writes: readonly StoreWrite[]): Promise<WriteOutcome[]>
  /**
   * Writes documents as they are, versions included: for moving a site. `Refusal('already_exists')` for one that is
   * there.
   */
  load<T extends StoredFields>(into: Collection<T>, docs: readonly Doc<T>[]): Promise<void>
  list<T extends StoredFields>(from: Collection<T>, query: ListQuery): Promise<DocumentPage<T>>
  count(from: AnyCollection, filter?: Filter, how?: ReadOptions): Promise<number>
  /** Documents for each value of an index field (documents without the field are left out). */
  countBy(from: AnyCollection, field: string, filter?: Filter, how?: ReadOptions): Promise<Map<Scalar, number>>
  /** Documents per bucket of a numeric index field: bucket start to count, empty buckets left out. */
  histogram(
    from: AnyCollection,
    field: string,
    interval: number,
    filter?: Filter,
    how?: Freshness,
  ): Promise<Map<number, number>>
  /** Every acknowledged write is judged. */
  removeWhere(from: AnyCollection, filter: Filter): Promise<number>
  /** Removes documents whose `expires_ts` (epoch milliseconds) is at or before now; how many. */
  expire(from: AnyCollection, now_ms: number): Promise<number>
  health(): Promise<{ ok: boolean; detail: string }>
  /** A consistent copy while running, to a path that must not exist; a cluster's are its own: `Refusal('invalid')`. */
  backup(to: string): Promise<void>
  /** Everything that is wrong with the stored bytes; empty when sound. */
  check(): Promise<string[]>
  close(): Promise<void>
}
