// Proposes fields of the codes and numbers within texts, where enough records have some.
import type { RecordSource } from '../engine/records/records.ts'
import { normaliseWords } from '../engine/text/normalise.ts'
import { listRareCodes } from '../engine/text/rare-codes.ts'
import type { LensField } from './field.ts'
import { allocateFieldName, type ProposedField } from './propose-fields.ts'

/** Shares of texts with a rare code, and with a number, from which they distinguish records. */
const min_codes_share = 0.1
const min_numbers_share = 0.3
/** Columns that a field may join. */
const max_joined_columns = 8
const max_compared_characters = 400

/** Proposes the fields; those of a shipped lens, `known`, as far as the data has their columns. */
export function proposeListedFields(
  sources: readonly RecordSource[],
  fields: readonly ProposedField[],
  known?: readonly LensField[],
): ProposedField[] {
  return known ? takeKnownFields(sources, known) : deriveListedFields(sources, fields)
}

function takeKnownFields(sources: readonly RecordSource[], known: readonly LensField[]): ProposedField[] {
  const names = new Set(sources.flatMap((source) => source.names))
  return known
    .filter(({ type }) => type === 'codes' || type === 'numbers')
    .flatMap(({ name, type, join, columns = [name] }) => {
      const present = (join ?? columns).filter((column) => names.has(column))
      return present.length === 0 ? [] : [buildListedField(name, type, present, join !== undefined)]
    })
}

function deriveListedFields(sources: readonly RecordSource[], fields: readonly ProposedField[]): ProposedField[] {
  const [title, ...texts] = fields.filter(({ type }) => type === 'text')
  if (!title) return []
  const codes = fields.filter(({ type }) => type === 'code')
  const all = new Set([title, ...texts, ...codes].flatMap((field) => field.columns))
  const columns = [...all].slice(0, max_joined_columns)
  const taken = new Set(fields.map(({ name }) => name))
  return [
    ...(measureCodes(readTexts(sources, columns)) >= min_codes_share
      ? [buildListedField(allocateFieldName('codes', taken), 'codes', columns, true)]
      : []),
    ...(measureNumbers(readTexts(sources, title.columns)) >= min_numbers_share
      ? [buildListedField(allocateFieldName('numbers', taken), 'numbers', title.columns, false)]
      : []),
  ]
}

function buildListedField(
  name: string,
  type: LensField['type'],
  columns: readonly string[],
  isJoined: boolean,
): ProposedField {
  const join = isJoined && columns.length > 1 ? { join: columns } : {}
  return { name, type, columns, ...join, isOptional: true, profiles: [] }
}

/** Reads the distinct values of columns, normalised. */
function readTexts(sources: readonly RecordSource[], columns: readonly string[]): string[] {
  const decoder = new TextDecoder()
  return sources.flatMap((source) =>
    source.columns
      .filter(({ name }) => columns.includes(name))
      .flatMap(({ values }) =>
        Array.from({ length: values.size }, (_, value) =>
          normaliseWords(decoder.decode(values.bytesOf(value)).slice(0, max_compared_characters)),
        ),
      ),
  )
}

function measureNumbers(texts: readonly string[]): number {
  return texts.filter((text) => /\d/.test(text)).length / Math.max(1, texts.length)
}

function measureCodes(texts: readonly string[]): number {
  const coded = listRareCodes(texts, texts.length).filter((codes) => codes.length > 0)
  return coded.length / Math.max(1, texts.length)
}
