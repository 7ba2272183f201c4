// Aligns the columns of several sources: columns with one name, or with similar names and values in common, hold one
// fact.
import type { FieldType } from '../../lens/field.ts'
import { createNormaliser } from '../text/normalisers.ts'
import type { ColumnProfile } from './profile.ts'
import type { RecordSource } from './records.ts'

export type ProfiledSource = { readonly source: RecordSource; readonly profiles: readonly ColumnProfile[] }

/** Columns that hold one fact: by source, undefined where a source has none. */
export type AlignedColumn = readonly (ColumnProfile | undefined)[]

/** Distinct values of a column that are compared with those of others. */
const max_compared_values = 5_000
/** Share in common, and of the words of the names, that are enough together. */
const min_common_share_named = 0.05
const min_name_similarity = 0.5
/** Shorter codes and numbers coincide. */
const min_identifier_length = 4

/** Types whose values may hold one fact although they are written differently. */
const typeFamilies: readonly (readonly FieldType[])[] = [
  ['name', 'place', 'text', 'category', 'set'],
  ['date', 'year'],
  ['code', 'number', 'category', 'year'],
]

/**
 * Share of values, or of their words, in common that is enough without similar names. Numbers and categories of any
 * columns coincide.
 */
const min_common_shares: Partial<Readonly<Record<FieldType, number>>> = {
  name: 0.25,
  place: 0.25,
  text: 0.25,
  code: 0.25,
  email: 0.25,
  set: 0.25,
  date: 0.5,
  year: 0.5,
}

/** Names of columns that hold one fact. */
const synonyms: readonly (readonly string[])[] = [
  ['phone', 'telephone', 'tel', 'phonenumber', 'telephonenumber', 'mobile'],
  ['url', 'website', 'homepage', 'web', 'link'],
  ['company', 'companyname', 'organisation', 'organization', 'legalname', 'firm', 'employer'],
  ['address', 'street', 'addressline', 'streetaddress'],
  ['title', 'name', 'label'],
]

/**
 * Aligns the columns with a type. `fieldOf`: the field that a well-known column belongs to; columns of one field are one.
 * Each column of a later source joins the columns that it resembles most, or stays alone.
 */
export function alignColumns(
  sources: readonly ProfiledSource[],
  fieldOf: (column: string) => string | undefined,
): AlignedColumn[] {
  const aligned: (ColumnProfile | undefined)[][] = []
  const values = new Map<ColumnProfile, ReadonlySet<string>>()
  for (const [at, { source, profiles }] of sources.entries()) {
    const typed = profiles.filter(({ type }) => type !== undefined)
    for (const profile of typed) values.set(profile, collectWords(source, profile))
    const pairs = typed.flatMap((profile) =>
      aligned.map((group) => ({ profile, group, likeness: rateGroup(profile, group, fieldOf, values) })),
    )
    const taken = new Set<unknown>()
    for (const { profile, group, likeness } of pairs.sort((a, b) => b.likeness - a.likeness)) {
      if (likeness <= 0 || taken.has(profile) || taken.has(group)) continue
      taken.add(profile).add(group)
      group[at] = profile
    }
    for (const profile of typed) if (!taken.has(profile)) aligned.push(placeAt(at, profile))
  }
  return aligned.map((group) => sources.map((_, at) => group[at]))
}

function placeAt(at: number, profile: ColumnProfile): (ColumnProfile | undefined)[] {
  const group: (ColumnProfile | undefined)[] = []
  group[at] = profile
  return group
}

/** Rates how likely a column holds the fact of the aligned columns: 0 for not at all. */
function rateGroup(
  profile: ColumnProfile,
  group: readonly (ColumnProfile | undefined)[],
  fieldOf: (column: string) => string | undefined,
  values: ReadonlyMap<ColumnProfile, ReadonlySet<string>>,
): number {
  const others = group.filter((other) => other !== undefined)
  return others.reduce((highest, other) => Math.max(highest, rateColumns(profile, other, fieldOf, values)), 0)
}

function rateColumns(
  a: ColumnProfile,
  b: ColumnProfile,
  fieldOf: (column: string) => string | undefined,
  values: ReadonlyMap<ColumnProfile, ReadonlySet<string>>,
): number {
  const common = computeCommonShare(values.get(a)!, values.get(b)!)
  const field = fieldOf(a.column)
  const isOneName = squeeze(a.column) === squeeze(b.column)
  if (isOneName) return 3 + common
  if (field !== undefined && field === fieldOf(b.column)) return 2 + common
  if (!areCompatible(a.type!, b.type!)) return 0
  const similarity = computeNameSimilarity(a.column, b.column)
  if (similarity >= min_name_similarity && common >= min_common_share_named) return similarity + common
  const needed = Math.max(min_common_shares[a.type!] ?? 2, min_common_shares[b.type!] ?? 2)
  return common >= needed ? common : 0
}

function areCompatible(a: FieldType, b: FieldType): boolean {
  return a === b || typeFamilies.some((family) => family.includes(a) && family.includes(b))
}

function computeNameSimilarity(a: string, b: string): number {
  const [left, right] = [squeeze(a), squeeze(b)]
  if (synonyms.some((names) => names.includes(left) && names.includes(right))) return 1
  const [lefts, rights] = [splitName(a), splitName(b)]
  const common = lefts.filter((word) => rights.includes(word)).length
  return common / Math.max(1, Math.min(lefts.length, rights.length))
}

function squeeze(column: string): string {
  return column.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

function splitName(column: string): string[] {
  const words = column
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  return words.filter((word) => word !== '')
}

/** Collects the normalised words of sampled values; of types without words the whole values. */
function collectWords({ columns }: RecordSource, { column, type, normalisers }: ColumnProfile): ReadonlySet<string> {
  const { values } = columns.find(({ name }) => name === column)!
  const isWhole = type === 'code' || type === 'email' || type === 'number'
  const normalise = createNormaliser(normalisers ?? (type === 'date' || type === 'year' ? ['year'] : ['words']))
  const decoder = new TextDecoder()
  const step = Math.max(1, Math.floor(values.size / max_compared_values))
  const words = new Set<string>()
  for (let value = 0; value < values.size; value += step) {
    const text = normalise(decoder.decode(values.bytesOf(value)))
    for (const word of isWhole ? [text] : text.split(' '))
      if (word.length >= (isWhole ? min_identifier_length : 1)) words.add(word)
  }
  return words
}

/** Computes the common words as a share of the geometric mean of both sizes (Ochiai), so that a few common words weigh little. */
function computeCommonShare(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [smaller, larger] = a.size <= b.size ? [a, b] : [b, a]
  let common = 0
  for (const word of smaller) if (larger.has(word)) common++
  return common === 0 ? 0 : common / Math.sqrt(a.size * b.size)
}
