// One collection's index: made on first use behind an alias, extended when a field is declared later.
import * as z from 'zod'
import type { AnyCollection, Collection } from '../../../daemon/kernel/store/store.ts'
import type { Cluster } from './cluster.ts'
import { ClusterFailure } from './failure.ts'
import { type FieldKind, type FieldKinds, fixedKinds, kindsOf } from './field-kind.ts'
import type { Known } from './known-cluster.ts'
import { openIndex } from './made-once.ts'
import { marksMapping } from './sight.ts'

export type SomeCollection = AnyCollection & Partial<Pick<Collection, 'schema'>>

export type Table = {
  readonly name: string
  readonly alias: string
  /** Every field that may be filtered and ordered by: the fixed ones, and those declared now or by an earlier release. */
  readonly kinds: FieldKinds
  /** Declared fields, or marks, that documents stored before lack. */
  readonly added: readonly string[]
}

export type Placing = Known & { readonly prefix: string; readonly replicas: number }

const nameRule = /^[a-z][a-z0-9_]*$/
const kind = z.enum(['keyword', 'double', 'boolean'])
const nothing = z.unknown()
/** Beside the declared fields, none of which can have such a name. */
const marks_filled = '(marks)'
const mappings = z.record(
  z.string(),
  z.object({
    mappings: z.object({
      _meta: z.object({ filled: z.array(z.string()) }),
      properties: z.object({ fields: z.object({ properties: z.record(z.string(), z.object({ type: kind })) }) }),
    }),
  }),
)
const settings = z.record(
  z.string(),
  z.object({
    settings: z.object({ index: z.object({ translog: z.object({ durability: z.string() }).optional() }) }),
  }),
)

/**
 * Makes the index where there has been none, and the fields that it lacks.
 * @throws when a name cannot be an index's; ClusterFailure when the index is lost, or does not make writes durable before
 * it answers.
 */
export async function openTable(
  cluster: Cluster,
  { prefix, replicas, memory }: Placing,
  of: SomeCollection,
): Promise<Table> {
  if (!nameRule.test(of.name)) throw new Error(`a collection cannot be named ${of.name}`)
  const alias = `${prefix}${of.name}`
  const wanted = of.schema ? kindsOf(of.schema, of.indexes) : new Map<string, FieldKind>()
  await openIndex(cluster, memory, alias, indexOf(alias, wanted, replicas))
  const held = await readMapping(cluster, alias)
  for (const [field, type] of wanted) {
    const before = held.kinds.get(field)
    if (before && before !== type)
      throw new Error(`the index ${field} of ${of.name} held ${before} before, not ${type}`)
  }
  const added = [...wanted.keys(), marks_filled].filter((field) => !held.filled.includes(field))
  if (added.length > 0) await addFields(cluster, alias, wanted)
  await requireDurability(cluster, alias)
  return { name: of.name, alias, kinds: new Map([...fixedKinds, ...held.kinds, ...wanted]), added }
}

/** What `added` names is in every document now. */
export async function markFilled(cluster: Cluster, { alias, kinds }: Table): Promise<void> {
  await cluster.ask({ method: 'PUT', path: `/${alias}/_mapping`, body: { _meta: metaOf(kinds.keys()) } }, nothing)
}

/** Bulk writes require the alias: an index that somebody removed is missed, and never made anew by a write in passing. */
function indexOf(alias: string, kinds: FieldKinds, replicas: number) {
  return {
    aliases: { [alias]: { is_write_index: true } },
    settings: { number_of_shards: 1, number_of_replicas: replicas, 'translog.durability': 'request' },
    mappings: {
      dynamic: 'strict',
      _meta: metaOf(kinds.keys()),
      properties: {
        id: { type: 'keyword' },
        long_id: { type: 'keyword', index: false, doc_values: false },
        version: { type: 'long', index: false, doc_values: false },
        write: { type: 'keyword', index: false, doc_values: false },
        fields: { dynamic: 'strict', properties: propertiesOf(new Map([...fixedKinds, ...kinds])) },
        marks: marksMapping,
        body: { type: 'object', enabled: false },
      },
    },
  }
}

async function readMapping(cluster: Cluster, alias: string) {
  const answer = await cluster.ask({ method: 'GET', path: `/${alias}/_mapping` }, mappings)
  const [only] = Object.values(answer)
  if (!only) throw new ClusterFailure('undone', 'the index is gone')
  const kinds = new Map(Object.entries(only.mappings.properties.fields.properties).map(([f, { type }]) => [f, type]))
  return { kinds, filled: only.mappings._meta.filled }
}

async function addFields(cluster: Cluster, alias: string, kinds: FieldKinds): Promise<void> {
  const body = { properties: { fields: { properties: propertiesOf(kinds) }, marks: marksMapping } }
  await cluster.ask({ method: 'PUT', path: `/${alias}/_mapping`, body }, nothing)
}

/** An answer must mean that the write is on disk. */
export async function requireDurability(cluster: Cluster, alias: string): Promise<void> {
  const path = `/${alias}/_settings`
  const answer = await cluster.ask({ method: 'GET', path }, settings)
  const lax = Object.values(answer).some(({ settings: { index } }) => index.translog?.durability !== 'request')
  if (lax) throw new ClusterFailure('undone', 'the index answers before it writes to disk: translog.durability', 60)
}

function propertiesOf(kinds: FieldKinds): Record<string, { type: FieldKind }> {
  return Object.fromEntries([...kinds].map(([field, type]) => [field, { type }]))
}

function metaOf(fields: Iterable<string>) {
  const declared = [...fields].filter((field) => !fixedKinds.has(field))
  return { format: 1, filled: [...declared, marks_filled].sort() }
}
