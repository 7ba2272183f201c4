// Derives the fields of a proposed lens from aligned columns, and says which columns it leaves out and why.
import type { AlignedColumn } from '../engine/records/align-columns.ts'
import type { NameHabits } from '../engine/records/name-habits.ts'
import type { ColumnProfile } from '../engine/records/profile.ts'
import type { FieldType } from './field.ts'
import { max_fields } from './model.ts'
import type { NormaliserName } from './normalisers.ts'

export type ProposedField = {
  readonly name: string
  readonly type: FieldType
  readonly normalisers?: readonly NormaliserName[] | undefined
  readonly habits?: NameHabits
  /** Columns of the sources, in their order, each once. */
  readonly columns: readonly string[]
  readonly join?: readonly string[]
  readonly isOptional: boolean
  readonly profiles: readonly ColumnProfile[]
}

export type OmittedColumn = { readonly profile: ColumnProfile; readonly reason: string }

export type FieldProposal = { readonly fields: readonly ProposedField[]; readonly omitted: readonly OmittedColumn[] }

/** Missing share above which a column is left out, unless most of its values are distinct. */
const max_missing_share = 0.6
/** Missing share above which a column says too little in any case. */
const max_empty_share = 0.98
const min_distinct_share = 0.5

/** Order of types that one field holds, the more general first. */
const generality: readonly FieldType[] = ['text', 'set', 'name', 'place', 'code', 'year', 'date', 'number', 'category']

/** `fieldNames`: names of fields for well-known columns. `repeated`: columns that repeat others. */
export function proposeFields(
  aligned: readonly AlignedColumn[],
  fieldNames: ReadonlyMap<string, string>,
  repeated: ReadonlyMap<ColumnProfile, readonly string[]>,
): FieldProposal {
  const repeatedReason = (group: readonly ColumnProfile[]) => {
    const parts = group.map((profile) => repeated.get(profile)).find((list) => list !== undefined)
    return parts && `repeats ${parts.join(' and ')}`
  }
  const omitted: OmittedColumn[] = []
  const groups = aligned.map((group) => group.filter((profile) => profile !== undefined))
  const [north, east] = [/^(lat|latitude)$/i, /^(lon|lng|long|longitude)$/i].map((pattern) =>
    groups.find((group) => group.every(({ column }) => pattern.test(column))),
  )
  const taken = new Set<string>()
  const fields: ProposedField[] = []
  const join = [north, east].flatMap((group) => group?.[0]?.column ?? [])
  // The columns of a place have the same names in every source, or they are not joined.
  const isPlace = north !== undefined && east !== undefined && [north, east].every(isNamedAlike)
  if (isPlace) {
    taken.add('location')
    const isOptional = north.length < (aligned[0]?.length ?? 0)
    fields.push({ name: 'location', type: 'geo', columns: [], join, isOptional, profiles: north })
  }
  for (const [at, group] of groups.entries()) {
    if (isPlace && (group === north || group === east)) continue
    const sources = aligned[at]?.length ?? 0
    const reason = repeatedReason(group) ?? findOmission(group, sources, fieldNames)
    if (reason !== undefined) omitted.push(...group.map((profile) => ({ profile, reason })))
    else fields.push(proposeField(group, sources, fieldNames, taken))
  }
  return { fields, omitted }
}

/** Limits the fields to those that a lens may have; the listed ones, which have no column of their own, stay. */
export function limitFields({ fields, omitted }: FieldProposal, listed: readonly ProposedField[]): FieldProposal {
  const room = max_fields - listed.length
  const extra = fields.slice(room).flatMap(({ profiles }) => profiles)
  return {
    fields: [...fields.slice(0, room), ...listed],
    omitted: [...omitted, ...extra.map((profile) => ({ profile, reason: 'exceeds the fields that a lens may have' }))],
  }
}

/** Whether all aligned columns have one name. */
function isNamedAlike(group: readonly ColumnProfile[]): boolean {
  return group.every(({ column }) => column === group[0]?.column)
}

function findOmission(
  group: readonly ColumnProfile[],
  sources: number,
  fieldNames: ReadonlyMap<string, string>,
): string | undefined {
  if (sources > 1 && group.length === 1) return 'is in one source alone'
  if (group.some(({ records, missing }) => missing > max_empty_share * records)) return 'is nearly empty'
  // A column that several sources share, or that a shipped lens knows, is wanted even where few records have it.
  if (sources > 1 || group.some(({ column }) => fieldNames.has(column.toLowerCase()))) return undefined
  const isSparse = group.every(({ records, missing, distinct }) => {
    return missing > max_missing_share * records && distinct < min_distinct_share * (records - missing)
  })
  return isSparse ? 'is mostly missing' : undefined
}

function proposeField(
  group: readonly ColumnProfile[],
  sources: number,
  fieldNames: ReadonlyMap<string, string>,
  taken: Set<string>,
): ProposedField {
  const types = group.flatMap(({ type }) => type ?? [])
  const type = types.includes('year') && types.includes('date') ? 'year' : findGeneralType(types)
  const known = group.map(({ column }) => fieldNames.get(column.toLowerCase())).find((name) => name !== undefined)
  const normalisers = group.map((profile) => profile.normalisers).find((list) => list !== undefined)
  return {
    name: allocateFieldName(known ?? group[0]?.column ?? '', taken),
    type,
    ...(normalisers && group.some((profile) => profile.normalisers && profile.type === type) ? { normalisers } : {}),
    ...(type === 'name' ? { habits: joinHabits(group) } : {}),
    columns: [...new Set(group.map(({ column }) => column))],
    isOptional: group.length < sources,
    profiles: group,
  }
}

/** One source with a habit suffices: the others may write the same names without it. */
function joinHabits(group: readonly ColumnProfile[]): NameHabits {
  return Object.assign({}, ...group.map(({ habits }) => habits ?? {}))
}

function findGeneralType(types: readonly FieldType[]): FieldType {
  const [first = 'text'] = types
  if (types.every((type) => type === first)) return first
  return generality.find((type) => types.includes(type)) ?? first
}

/** A name identifies records as well as a text unless its values are far less distinct. */
const min_name_power = 0.8

/** Whether texts identify the records: whether the column with the most distinct values is a text. */
export function areTextsIdentifying(fields: readonly ProposedField[]): boolean {
  const powerOf = (types: readonly FieldType[]) =>
    Math.max(0, ...fields.filter(({ type }) => types.includes(type)).map(computeIdentifyingPower))
  const text = powerOf(['text'])
  return text > 0 && powerOf(['name']) < min_name_power * text
}

/** Computes the mean share of the records of a source that have a value of their own. */
function computeIdentifyingPower({ profiles }: ProposedField): number {
  const shares = profiles.map(({ records, distinct }) => distinct / Math.max(1, records))
  return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length)
}

/** Derives a valid field name from a column, and makes it unique among `taken`. */
export function allocateFieldName(column: string, taken: Set<string>): string {
  const plain = column
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 56)
  const base = plain === '' ? 'field' : plain
  let name = base
  for (let next = 2; taken.has(name); next++) name = `${base}_${next}`
  taken.add(name)
  return name
}
