// Finds documents in the cluster that are not what was written: off their schema, or found by what they do not hold.
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { StoredFields } from '../../../daemon/kernel/store/store.ts'
import type { Cluster } from './cluster.ts'
import { type Envelope, idOf } from './envelope.ts'
import { fieldsOf } from './field-kind.ts'
import { everyHit } from './listing.ts'
import { marksOf } from './sight.ts'
import type { SomeCollection, Table } from './table.ts'

const max_faults = 100

/** One line per faulty document, naming collection and id but no content; at most 100 a collection. */
export async function documentFaults(cluster: Cluster, table: Table, { schema }: SomeCollection): Promise<string[]> {
  const faults: string[] = []
  for await (const { _source } of everyHit(cluster, table)) {
    const fault = faultOf(table, _source, schema)
    if (fault) faults.push(`${table.name} ${JSON.stringify(idOf(_source))}: ${fault}`)
    if (faults.length === max_faults) break
  }
  return faults
}

function faultOf(table: Table, held: Envelope, schema: SomeCollection['schema']): string | undefined {
  if (schema && !schema.safeParse(held.body).success) return 'the body is not of its schema'
  const expected = expectedOf(table, held)
  if (!expected) return 'the body has no sound label or index field'
  const names = new Set([...Object.keys(expected.fields), ...Object.keys(held.fields)])
  const wrong = [...names].filter((name) => expected.fields[name] !== held.fields[name])
  if (canonicalJson(held.marks ?? null) !== canonicalJson(expected.marks)) wrong.push('marks')
  return wrong.length > 0 ? `the index is wrong: ${wrong.join(', ')}` : undefined
}

function expectedOf(table: Table, held: Envelope) {
  const body = held.body as StoredFields
  try {
    return { fields: fieldsOf(body, table.kinds), marks: marksOf(body) }
  } catch {
    return undefined
  }
}
