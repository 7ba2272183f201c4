// Finds documents in the cluster that are not what was written: off their schema, or found by what they do not hold.
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { StoredFields } from '../../../daemon/kernel/store/store.ts'
import type { OpensearchCluster } from './cluster/cluster.ts'
import { type DocumentEnvelope, documentId } from './document-envelope.ts'
import { buildFields } from './indexes/field-kind.ts'
import type { OpensearchTable, SchemaCollection } from './indexes/table.ts'
import { iterateHits } from './reads/listing.ts'
import { deriveMarks } from './reads/read-scope.ts'

const max_faults = 100

/** One line per faulty document, naming collection and id but no content; at most 100 a collection. */
export async function findDocumentFaults(
  cluster: OpensearchCluster,
  table: OpensearchTable,
  { schema }: SchemaCollection,
): Promise<string[]> {
  const faults: string[] = []
  for await (const { _source } of iterateHits(cluster, table)) {
    const fault = findFault(table, _source, schema)
    if (fault) faults.push(`${table.name} ${JSON.stringify(documentId(_source))}: ${fault}`)
    if (faults.length === max_faults) break
  }
  return faults
}

function findFault(
  table: OpensearchTable,
  held: DocumentEnvelope,
  schema: SchemaCollection['schema'],
): string | undefined {
  if (schema && !schema.safeParse(held.body).success) return 'the body does not match its schema'
  const expected = deriveExpected(table, held)
  if (!expected) return 'the body has an invalid label or index field'
  const names = new Set([...Object.keys(expected.fields), ...Object.keys(held.fields)])
  const wrong = [...names].filter((name) => expected.fields[name] !== held.fields[name])
  if (canonicalJson(held.marks ?? null) !== canonicalJson(expected.marks)) wrong.push('marks')
  return wrong.length > 0 ? `the index is wrong: ${wrong.join(', ')}` : undefined
}

function deriveExpected(table: OpensearchTable, held: DocumentEnvelope) {
  const body = held.body as StoredFields
  try {
    return { fields: buildFields(body, table.kinds), marks: deriveMarks(body) }
  } catch {
    return undefined
  }
}
