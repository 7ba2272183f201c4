// Drafts a lens for data that has none, with comments for the person who completes it.

import { type ColumnProfile, findIdColumn } from '../engine/records/profile.ts'
import type { FieldType } from './field.ts'
import { max_fields } from './model.ts'

type ProposedField = {
  readonly name: string
  readonly type: FieldType
  readonly profile: ColumnProfile
  readonly join?: readonly string[]
}

/** Returns a valid lens as YAML text. `fieldNames` maps well-known columns to field names. */
export function draftLens(
  name: string,
  source: string,
  profiles: readonly ColumnProfile[],
  fieldNames: ReadonlyMap<string, string>,
): string {
  const id = findIdColumn(profiles)
  const [fields, omitted] = proposeFields(profiles, id, fieldNames)
  const isTextLens = fields.some(({ type }) => type === 'text') && !fields.some(({ type }) => type === 'name')
  const [hasGivenName, hasSurname] = ['given_name', 'surname'].map((name) =>
    fields.some((field) => field.name === name && field.type === 'name'),
  )
  return [
    `# Proposed from ${profiles[0]?.records ?? 0} records of ${JSON.stringify(source)}. Review it, then:`,
    '#   platform resolve lens validate FILE                  show the lens and its faults',
    '#   platform resolve lens charts --lens FILE --data ...  show its weights, scores and blocking',
    `lens: ${name}`,
    'version: 1.0.0',
    `entity_type: ${isTextLens ? 'work' : 'person'}   # kind of entity of a cluster`,
    ...(isTextLens ? ['# Matches by texts; use `fields` where each column holds one fact.', 'told_by: texts'] : []),
    id === undefined
      ? 'id_field: id   # no column has a unique value in each record; add one to the data'
      : `id_field: ${JSON.stringify(id)}`,
    'fields:',
    ...fields.flatMap(formatField),
    ...(omitted.length > 0 ? ['  # Left out:', ...omitted.map(formatOmittedColumn)] : []),
    ...(hasGivenName && hasSurname
      ? ['# These two may be written in either order.', 'swapped: [given_name, surname]']
      : []),
    ...proposeBlockingRules(fields),
    '',
  ].join('\n')
}

function proposeFields(
  profiles: readonly ColumnProfile[],
  id: string | undefined,
  fieldNames: ReadonlyMap<string, string>,
): [ProposedField[], ColumnProfile[]] {
  const north = profiles.find(({ column }) => /^(lat|latitude)$/i.test(column))
  const east = profiles.find(({ column }) => /^(lon|lng|long|longitude)$/i.test(column))
  const place: ProposedField[] =
    north && east ? [{ name: 'location', type: 'geo', profile: north, join: [north.column, east.column] }] : []
  const taken = new Set(place.map(({ name }) => name))
  const rest = profiles.filter(
    (profile) => profile.column !== id && (place.length === 0 || (profile !== north && profile !== east)),
  )
  const typed = rest.flatMap((profile): ProposedField[] => {
    if (profile.type === undefined) return []
    return [
      {
        name: allocateFieldName(fieldNames.get(profile.column.toLowerCase()) ?? profile.column, taken),
        type: profile.type,
        profile,
      },
    ]
  })
  const fields = [...place, ...typed].slice(0, max_fields)
  return [fields, rest.filter((profile) => !fields.some((field) => field.profile === profile))]
}

/** Derives a valid field name from a column, and makes it unique among `taken`. */
function allocateFieldName(column: string, taken: Set<string>): string {
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

const typeRemarks: Readonly<Record<FieldType, string>> = {
  name: 'slips, sound and short forms count',
  place: 'slips, sound and short forms count',
  date: 'slips, day and month swapped, and equal parts count',
  code: 'one slip or two, and the same first half count',
  email: 'the user and slips count',
  number: 'the relative difference counts; set `comparator: numeric` and `levels` for other steps',
  category: 'equal or not',
  year: 'a year apart counts',
  text: 'words and letters in common count',
  geo: 'the distance in kilometres counts',
  set: 'elements in common count',
  codes: 'model numbers and other codes within the text count',
  numbers: 'sizes, versions and other numbers within the text count',
}

function formatField({ name, type, profile, join }: ProposedField): string[] {
  const { column } = profile
  const place = join
    ? [`    join: ${JSON.stringify(join)}`]
    : column === name
      ? []
      : [`    columns: [${JSON.stringify(column)}]`]
  return [
    `  # ${formatStatistics(profile)}`,
    `  - name: ${name}`,
    `    type: ${type}   # ${typeRemarks[type]}`,
    ...place,
  ]
}

function formatStatistics({ records, missing, distinct, samples }: ColumnProfile): string {
  const part = records === 0 ? 0 : Math.round((missing / records) * 100)
  return `${distinct} values, ${part} % missing, as in ${samples.map((sample) => JSON.stringify(sample)).join(', ') || 'none'}`
}

function formatOmittedColumn(profile: ColumnProfile): string {
  const reason = profile.distinct < 2 ? 'has a single value' : 'exceeds the fields that a lens may have'
  return `  #   ${JSON.stringify(profile.column)}: ${reason}; ${formatStatistics(profile)}`
}

/** Proposes blocking rules as comments, since automatic blocking finds more pairs. */
function proposeBlockingRules(fields: readonly ProposedField[]): string[] {
  const identifying = fields.filter(
    ({ type, profile }) => (type === 'code' || type === 'email') && profile.distinct * 2 > profile.records,
  )
  const names = fields.filter(({ type }) => type === 'name').slice(0, 2)
  const dates = fields.filter(({ type }) => type === 'date').slice(0, 1)
  const texts = fields.filter(({ type }) => type === 'text').slice(0, 2)
  const rules = [
    ...identifying.map(({ name }) => name),
    ...dates.flatMap((date) => names.map(({ name }) => `[${name}:phonetic, ${date.name}:year]`)),
    ...(names.length === 2 ? [`[${names[0]?.name}:prefix(4), ${names[1]?.name}:prefix(4)]`] : []),
    ...(texts.length > 0 ? [`{ tfidf: { fields: [${texts.map(({ name }) => name).join(', ')}], k: 10 } }`] : []),
  ]
  const proposed = rules.length > 0 ? rules : fields.slice(0, 1).map(({ name }) => name)
  return [
    '# The engine chooses the pairs to compare from all fields. Explicit rules would be, for example:',
    '# blocking:',
    ...proposed.map((rule) => `#   - ${rule}`),
    'blocking: automatic',
  ]
}
