// One collection's index: made on first use behind an alias, extended when a field is declared later.

import * as z from 'zod'
import { requireCollectionName } from '../../../../daemon/kernel/store/collection-name.ts'
import { first_version, versionOf } from '../../../../daemon/kernel/store/schema-version.ts'
import type { AnyCollection, Collection } from '../../../../daemon/kernel/store/store.ts'
import { product } from '../../../platform/product/product.ts'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { ClusterFailure } from '../cluster/cluster-failure.ts'
import type { ClusterBinding } from '../cluster/known-cluster.ts'
import { marksMapping } from '../reads/read-scope.ts'
import { publishIndex } from './documented-alias.ts'
import { deriveFieldKinds, type FieldKind, type FieldKinds, fixedKinds } from './field-kind.ts'
import { buildIndexHead, openIndex } from './open-index.ts'

export type SchemaCollection = AnyCollection & Partial<Pick<Collection, 'schema'>>

export type OpensearchTable = {
  readonly name: string
  readonly alias: string
  /** Every field that may be filtered and ordered by: the fixed ones, and those declared now or by an earlier release. */
  readonly kinds: FieldKinds
  /** Declared fields, or marks, that documents stored before lack. */
  readonly added: readonly string[]
  /** Version that every document has, and that of this release, which is equal or later. */
  readonly version: { readonly found: number; readonly own: number }
}

/** `alias_prefix`: begins the documented names of collections. `alias_names`: what settings call some of them. */
export type IndexPlacement = ClusterBinding & {
  readonly prefix: string
  readonly alias_prefix: string
  readonly alias_names?: Readonly<Record<string, string>>
  readonly replicas: number
}

const fieldKindSchema = z.enum(['keyword', 'double', 'boolean'])
const anyResponse = z.unknown()
/** Beside the declared fields, none of which can have such a name. */
const marks_filled = '(marks)'
const mappingsResponse = z.record(
  z.string(),
  z.object({
    mappings: z.object({
      // Releases before 1.1.0 recorded no version.
      _meta: z.object({
        filled: z.array(z.string()),
        version: z.int().default(first_version),
        release: z.string().default('1.0.0'),
      }),
      properties: z.object({
        fields: z.object({ properties: z.record(z.string(), z.object({ type: fieldKindSchema })) }),
      }),
    }),
  }),
)
const settingsResponse = z.record(
  z.string(),
  z.object({
    settings: z.object({ index: z.object({ translog: z.object({ durability: z.string() }).optional() }) }),
  }),
)

/**
 * Makes the index where there has been none, and the fields that it lacks.
 * @throws when a name cannot be an index's; ClusterFailure when the index is lost, does not make writes durable before
 * it answers, or holds documents of a later release.
 */
export async function openTable(
  cluster: OpensearchCluster,
  { prefix, alias_prefix, alias_names, base, replicas, memory }: IndexPlacement,
  of: SchemaCollection,
): Promise<OpensearchTable> {
  const alias = `${prefix}${requireCollectionName(of.name)}`
  const wanted = of.schema ? deriveFieldKinds(of.schema, of.indexes) : new Map<string, FieldKind>()
  const own = versionOf(of)
  await openIndex(cluster, memory, alias, buildIndex(alias, wanted, replicas, own))
  const held = await readMapping(cluster, alias)
  requireKnownVersion(of.name, own, held)
  for (const [field, type] of wanted) {
    const before = held.kinds.get(field)
    if (before && before !== type)
      throw new Error(`the index ${field} of ${of.name} held ${before} before, not ${type}`)
  }
  const added = [...wanted.keys(), marks_filled].filter((field) => !held.filled.includes(field))
  if (added.length > 0) await addFields(cluster, alias, wanted)
  await requireDurability(cluster, alias)
  const { documented } = of
  if (documented)
    await publishIndex(
      cluster,
      held.index,
      { alias: `${alias_prefix}${alias_names?.[documented.alias] ?? documented.alias}`, base },
      documented,
    )
  return {
    name: of.name,
    alias,
    kinds: new Map([...fixedKinds, ...held.kinds, ...wanted]),
    added,
    version: { found: held.version, own },
  }
}

/** An operator reads the reason in the health of the role. */
function requireKnownVersion(name: string, own: number, { version, release }: { version: number; release: string }) {
  if (version <= own) return
  const reason = `release ${release} wrote ${name} in version ${version}, and release ${product.version} knows ${own}`
  throw new ClusterFailure('undone', reason, 60)
}

/** Records that every document has the fields in `added`, and the version of this release, now. */
export async function markFilled(
  cluster: OpensearchCluster,
  { alias, kinds, version }: OpensearchTable,
): Promise<void> {
  await cluster.request(
    { method: 'PUT', path: `/${alias}/_mapping`, body: { _meta: indexMeta(kinds.keys(), version.own) } },
    anyResponse,
  )
}

function buildIndex(alias: string, kinds: FieldKinds, replicas: number, version: number) {
  return {
    ...buildIndexHead(alias, replicas),
    mappings: {
      dynamic: 'strict',
      _meta: indexMeta(kinds.keys(), version),
      properties: {
        id: { type: 'keyword' },
        long_id: { type: 'keyword', index: false, doc_values: false },
        version: { type: 'long', index: false, doc_values: false },
        write: { type: 'keyword', index: false, doc_values: false },
        fields: { dynamic: 'strict', properties: fieldProperties(new Map([...fixedKinds, ...kinds])) },
        marks: marksMapping,
        body: { type: 'object', enabled: false },
      },
    },
  }
}

async function readMapping(cluster: OpensearchCluster, alias: string) {
  const answer = await cluster.request({ method: 'GET', path: `/${alias}/_mapping` }, mappingsResponse)
  const [only] = Object.entries(answer)
  if (!only) throw new ClusterFailure('undone', 'the index is gone')
  const [index, { mappings }] = only
  const kinds = new Map(Object.entries(mappings.properties.fields.properties).map(([f, { type }]) => [f, type]))
  return { index, kinds, ...mappings._meta }
}

async function addFields(cluster: OpensearchCluster, alias: string, kinds: FieldKinds): Promise<void> {
  const body = { properties: { fields: { properties: fieldProperties(kinds) }, marks: marksMapping } }
  await cluster.request({ method: 'PUT', path: `/${alias}/_mapping`, body }, anyResponse)
}

/** An answer must mean that the write is on disk. */
export async function requireDurability(cluster: OpensearchCluster, alias: string): Promise<void> {
  const path = `/${alias}/_settings`
  const answer = await cluster.request({ method: 'GET', path }, settingsResponse)
  const lax = Object.values(answer).some(({ settings: { index } }) => index.translog?.durability !== 'request')
  if (lax) throw new ClusterFailure('undone', 'the index answers before it writes to disk: translog.durability', 60)
}

function fieldProperties(kinds: FieldKinds): Record<string, { type: FieldKind }> {
  return Object.fromEntries([...kinds].map(([field, type]) => [field, { type }]))
}

function indexMeta(fields: Iterable<string>, version: number) {
  const declared = [...fields].filter((field) => !fixedKinds.has(field))
  return { format: 1, version, release: product.version, filled: [...declared, marks_filled].sort() }
}
