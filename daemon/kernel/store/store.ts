// The contract of document stores: single documents, optimistic versions, declared indexes.
import type * as z from 'zod'
import type { AuditEvent } from '../audit/audit-chain.ts'
import { type Label, type LabelPolicy, labelKey, type Viewer } from '../label/label.ts'
import type { DocumentMigration } from './schema-version.ts'

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
   * Lists whose cost must not grow with the collection: the indexes filtered by one value each, then the index that
   * orders them. An index and `label_key` alone: counts by its values, for a viewer with a limited read scope.
   */
  readonly orders?: readonly (readonly ((keyof T & string) | 'label_key')[])[]
  /** Names under which other software finds the collection in a cluster. */
  readonly documented?: DocumentedIndex<keyof T & string>
  /** Steps that bring documents of earlier releases to the schema, in order (docs/upgrade.md). */
  readonly migrations?: readonly DocumentMigration[]
  /**
   * The version as callers know it, where internal writes must not count as a change; default: the version of the
   * store. Undefined: the documents are parts of others, which If-Match of a request is about.
   */
  readonly revision?: (value: T, version: number) => number | undefined
}

/**
 * Documented names of a collection. `alias`: that of its index, after the prefix of the site; several collections may
 * share one. `fields`: documented paths to the indexes of the collection, or to its id.
 */
export type DocumentedIndex<Field extends string = string> = {
  readonly alias: string
  readonly fields: Readonly<Record<string, Field | 'id'>>
}

export function collection<T extends StoredFields>(declaration: Collection<T>): Collection<T> {
  return declaration
}

/** A collection of any document type. */
export type AnyCollection = {
  readonly name: string
  readonly indexes: readonly string[]
  readonly orders?: readonly (readonly string[])[]
  readonly documented?: DocumentedIndex
  readonly migrations?: readonly DocumentMigration[]
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

/** `fresh`: include every acknowledged write, at a cost. SQLite always does; otherwise a cluster lags by a second. */
export type Freshness = { readonly fresh?: boolean }

/**
 * The documents that a viewer may see: those of its tenant without a label, or with a label that the viewer
 * dominates. A store derives the scope from the viewer, and never from stored labels.
 */
export type ReadScope = { readonly viewer: Viewer; readonly policy: LabelPolicy }
export type ReadOptions = Freshness & { readonly read_scope?: ReadScope }

/**
 * Position in a list: value of the order field and id of the last document. The value is null without the field, and
 * without an order.
 */
export type CursorPosition = { readonly value: Scalar | null; readonly id: string }

export type ListQuery = ReadOptions & {
  readonly filter?: Filter
  /** An index field; ties are broken by id, so that a cursor never skips or repeats. Default: by id, ascending. */
  readonly order?: { readonly field: string; readonly direction: 'asc' | 'desc' }
  readonly limit: number
  /** Opaque, from the previous page of the same query. A foreign or altered one is `Refusal('malformed')`. */
  readonly cursor?: string
  /** Instead of a cursor: a position of the program's own, which any viewer may continue from. */
  readonly after?: CursorPosition
}

/** At most `limit` documents; fewer, with a cursor, where these would be too many bytes for one answer. */
export type DocumentPage<T> = { readonly docs: readonly Doc<T>[]; readonly next_cursor?: string }

/** Number of documents that match; `at_least`: counting ended at its bound, and more may match. */
export type DocumentTotal = { readonly total: number; readonly total_is: 'exact' | 'at_least' }

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

/**
 * What became of removed and replaced content in the files of a store. `rewritten`: no copy is left; `zeroed`: free space was
 * overwritten, and parts that are still in use may hold copies; `busy`: another process reads the files.
 */
export type ScrubOutcome = 'rewritten' | 'zeroed' | 'busy'

export type WriteOutcome = 'done' | 'exists' | 'conflict' | 'missing'

/**
 * A document store. The promise of a write resolves when the write is durable. Values are parsed by the collection's
 * schema before storage, and are plain JSON. A failing disk or cluster throws `Refusal('unavailable')`.
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
  count(from: AnyCollection, filter?: Filter, options?: ReadOptions): Promise<number>
  /**
   * As `count`, and bounded: it ends after `most` documents, or a tenth of that which it had to read. `exact` where the
   * viewer sees at most a tenth of `most` of the collection, and where at most `most` match a filter of one field.
   * Documents that the viewer may not see change no part of the answer.
   */
  countUpTo(from: AnyCollection, most: number, filter?: Filter, options?: ReadOptions): Promise<DocumentTotal>
  /** Documents for each value of an index field (documents without the field are left out). */
  countBy(from: AnyCollection, field: string, filter?: Filter, options?: ReadOptions): Promise<Map<Scalar, number>>
  /** Documents per bucket of a numeric index field: bucket start to count, empty buckets left out. */
  histogram(
    from: AnyCollection,
    field: string,
    interval: number,
    filter?: Filter,
    options?: Freshness,
  ): Promise<Map<number, number>>
  /** Removes documents that match the filter, judged on every acknowledged write; resolves with the number removed. */
  removeWhere(from: AnyCollection, filter: Filter): Promise<number>
  /**
   * Removes documents whose `expires_ts` (epoch milliseconds) is at or before now; resolves with the number removed.
   */
  expire(from: AnyCollection, now_ms: number): Promise<number>
  /** Erases removed and replaced documents of the collections from the files of the store; repeat it after `busy`. */
  scrub(of: readonly AnyCollection[]): Promise<ScrubOutcome>
  health(): Promise<{ ok: boolean; detail: string }>
  /**
   * Writes a consistent copy to a path that must not exist. A cluster has its own backups and throws
   * `Refusal('invalid')`.
   */
  backup(to: string): Promise<void>
  /** Faults of the stored bytes; empty when there are none. */
  check(): Promise<string[]>
  close(): Promise<void>
}
