// Finds documents whose stored bytes have changed: unreadable, or in conflict with their schema or index.

import { setImmediate as turn } from 'node:timers/promises'
import type * as z from 'zod'
import { parseJson } from '../../../../daemon/kernel/encoding/parse-json.ts'
import type { StoredFields } from '../../../../daemon/kernel/store/store.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import { buildCells, changedCells, type SqlCell } from './columns.ts'
import type { SqliteTable } from './table.ts'

/** Schemas by collection; a collection that no code of this process has used yet has none. */
export type CollectionSchemas = Map<string, z.ZodType<StoredFields>>

type DocumentCheckRow = { at: number; id: string; body: string } & Record<string, SqlCell>

const chunk_size = 500
const max_faults = 100

/** One line per faulty document, naming collection and id but no content; at most 100 a collection. */
export async function findDocumentFaults(
  file: SqliteFile,
  table: SqliteTable,
  schema?: z.ZodType<StoredFields>,
): Promise<string[]> {
  const next = table.prepare(
    `SELECT rowid AS at, id, body, ${table.columns.join(', ')} FROM ${table.name} WHERE rowid > ? ORDER BY rowid LIMIT ?`,
  )
  const faults: string[] = []
  let after = -1
  while (faults.length < max_faults) {
    const rows = file.read(() => next.all(after, chunk_size)) as DocumentCheckRow[]
    for (const row of rows) {
      const fault = findFault(table, row, schema)
      if (fault) faults.push(`${table.name} ${JSON.stringify(row.id)}: ${fault}`)
    }
    if (rows.length < chunk_size) break
    after = rows.at(-1)?.at ?? after
    // Large collections are read in pieces, so that requests are served meanwhile.
    await turn()
  }
  return faults
}

function findFault(table: SqliteTable, row: DocumentCheckRow, schema?: z.ZodType<StoredFields>): string | undefined {
  const value = parseBody(row.body)
  if (value === undefined) return 'the body is not JSON'
  if (schema && !schema.safeParse(value).success) return 'the body does not match its schema'
  const cells = tryBuildCells(table, value)
  if (!cells) return 'the body has an invalid label or index field'
  const stored = table.columns.map((column) => row[column] ?? null)
  const changed = changedCells(stored, cells).places
  return changed.length > 0
    ? `the index is wrong: ${changed.map((place) => table.columns[place]).join(', ')}`
    : undefined
}

function parseBody(body: string): StoredFields | undefined {
  const value = parseJson(body)
  return typeof value === 'object' && value !== null ? (value as StoredFields) : undefined
}

function tryBuildCells(table: SqliteTable, value: StoredFields): SqlCell[] | undefined {
  try {
    return buildCells(value, table.fields)
  } catch {
    return undefined
  }
}
