// Types of PostgreSQL: how their texts become JSON, and which of them say what lands.
import type { DataColumn } from '../../../daemon/kernel/data/data-schema.ts'
import type { JsonForm } from '../../../daemon/shared/row-source/json-row.ts'

/** Ids of built-in types, which are the same in every installation. */
const boolean_oid = 16
const bytea_oid = 17
const integer_oids: ReadonlySet<number> = new Set([20, 21, 23, 26])
const float_oids: ReadonlySet<number> = new Set([700, 701])
const date_oid = 1_082
const timestamp_oid = 1_114
const timestamptz_oid = 1_184

export function formOf(oid: number): JsonForm {
  if (integer_oids.has(oid) || float_oids.has(oid)) return 'number'
  return oid === boolean_oid ? 'boolean' : 'text'
}

/** As data files have it: instants by ISO 8601, bytes as base64. A decimal number stays the text that the server has. */
export function normalizeText(oid: number, text: string): string {
  if (oid === boolean_oid) return text === 't' ? 'true' : 'false'
  if (oid === bytea_oid && text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex').toString('base64')
  if (oid === timestamp_oid) return isoPattern.test(text) ? text.replace(' ', 'T') : text
  if (oid === timestamptz_oid) return isoPattern.test(text) ? text.replace(' ', 'T').replace(/\+00$/, 'Z') : text
  return text
}

/** Years beyond four digits, before Christ and infinity stay as they are. */
const isoPattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?(?:\+00)?$/

/**
 * The type of a column where it holds every value. Dates may be infinite and floating numbers not a number: the rows decide.
 */
export function findStatedType(name: string, oid: number): DataColumn | undefined {
  if (float_oids.has(oid) || oid === date_oid || oid === timestamp_oid || oid === timestamptz_oid) return undefined
  return { name, type: integer_oids.has(oid) ? 'int64' : oid === boolean_oid ? 'boolean' : 'text' }
}

/** The type that most values of a column have: of one without rows. */
export function findUsualType(name: string, oid: number): DataColumn {
  if (float_oids.has(oid)) return { name, type: 'double' }
  if (oid === date_oid) return { name, type: 'date' }
  if (oid === timestamp_oid) return { name, type: 'local_timestamp' }
  return oid === timestamptz_oid ? { name, type: 'timestamp' } : (findStatedType(name, oid) ?? { name, type: 'text' })
}
