// Drafts a lens for data that has none, with comments for the person who completes it.

import { formatCount } from '../../../kernel/text/format-count.ts'
import type { IdColumnChoice } from '../engine/records/id-column.ts'
import type { ColumnProfile } from '../engine/records/profile.ts'
import type { FieldType } from './field.ts'
import type { Lens } from './model.ts'
import type { FieldProposal, OmittedColumn, ProposedField } from './propose-fields.ts'

export type LensDraft = FieldProposal & {
  readonly name: string
  readonly sources: readonly DraftSource[]
  /** Column with the ids of every source; undefined where they have none, or different ones. */
  readonly id_field: string | undefined
  readonly told_by: Lens['told_by']
  /** The shipped lens whose columns the data has. */
  readonly base: Pick<Lens, 'lens' | 'entity_type' | 'text_evidence'> | undefined
}

type DraftSource = {
  readonly name: string
  readonly records: number
  /** Column that names its records; undefined where none does. */
  readonly id: IdColumnChoice | undefined
}

/** Returns a valid lens as YAML text. */
export function draftLens({ name, sources, id_field, base, told_by, fields, omitted }: LensDraft): string {
  const isTextLens = told_by === 'texts'
  const hasName = (wanted: string) => fields.some((field) => field.name === wanted && field.type === 'name')
  const canSwap = hasName('given_name') && hasName('surname')
  const described = sources.map((source) => `${source.records} records of ${JSON.stringify(source.name)}`)
  return [
    `# Proposed from ${described.join(' and ')}. Review it, then:`,
    '#   platform resolve lens validate FILE                  show the lens and its faults',
    '#   platform resolve lens charts --lens FILE --data ...  show its weights, scores and blocking',
    ...(base ? [`# Its columns are those of the shipped lens ${base.lens}.`] : []),
    `lens: ${name}`,
    'version: 1.0.0',
    `entity_type: ${base?.entity_type ?? guessEntityType(isTextLens, fields)}   # kind of entity of a cluster`,
    ...(isTextLens ? ['# Matches by texts; use `fields` where each column holds one fact.', 'told_by: texts'] : []),
    ...(isTextLens && base ? [`text_evidence: ${base.text_evidence}`] : []),
    formatIdField(id_field, sources),
    'fields:',
    ...fields.flatMap(formatField),
    ...(omitted.length > 0 ? ['  # Left out:', ...omitted.map(formatOmittedColumn)] : []),
    ...(canSwap ? ['# These two may be written in either order.', 'swapped: [given_name, surname]'] : []),
    ...proposeBlockingRules(fields),
    '',
  ].join('\n')
}

function formatIdField(id_field: string | undefined, sources: readonly DraftSource[]): string {
  const faulty = sources.reduce((sum, { id }) => sum + (id?.faulty ?? 0), 0)
  if (id_field !== undefined) {
    const remark = `   # but ${formatCount(faulty, 'record repeats or lacks an id', 'records repeat or lack an id')}`
    return `id_field: ${JSON.stringify(id_field)}${faulty > 0 ? remark : ''}`
  }
  const named = sources.flatMap(({ name, id }) => (id ? [JSON.stringify(`${name}=${id.column}`)] : []))
  const remedy =
    named.length > 0
      ? `the files name their ids differently; name them: --id-field ${named.join(' ')}`
      : 'no column has a unique value in each record; add one to the data, or use --make-ids'
  return `id_field: id   # ${remedy}`
}

function guessEntityType(isTextLens: boolean, fields: readonly ProposedField[]): string {
  if (isTextLens) return 'work'
  return fields.some(({ normalisers }) => normalisers?.includes('company')) ? 'organisation' : 'person'
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

function formatField({
  name,
  type,
  normalisers,
  habits,
  columns,
  join,
  isOptional,
  profiles,
}: ProposedField): string[] {
  const isNamedAlike = columns.length === 1 && columns[0] === name
  return [
    ...profiles.map((profile) => `  # ${formatStatistics(profile)}`),
    `  - name: ${name}`,
    `    type: ${type}   # ${typeRemarks[type]}`,
    ...(join ? [`    join: ${JSON.stringify(join)}`] : isNamedAlike ? [] : [`    columns: ${JSON.stringify(columns)}`]),
    ...(normalisers ? [`    normalisers: ${JSON.stringify(normalisers)}`] : []),
    ...(habits?.phonetics ? [`    phonetics: ${JSON.stringify(habits.phonetics)}   # for scripts without vowels`] : []),
    ...(habits?.particles ? ['    particles: true   # some have particles, as in van der or al'] : []),
    ...(isOptional ? ['    optional: true'] : []),
  ]
}

function formatStatistics({ records, missing, distinct, samples }: ColumnProfile): string {
  const part = records === 0 ? 0 : Math.round((missing / records) * 100)
  return `${distinct} values, ${part} % missing, as in ${samples.map((sample) => JSON.stringify(sample)).join(', ') || 'none'}`
}

function formatOmittedColumn({ profile, reason }: OmittedColumn): string {
  return `  #   ${JSON.stringify(profile.column)}: ${reason}; ${formatStatistics(profile)}`
}

/** Proposes blocking rules as comments, since automatic blocking finds more pairs. */
function proposeBlockingRules(fields: readonly ProposedField[]): string[] {
  const identifying = fields.filter(
    ({ type, profiles: [profile] }) =>
      (type === 'code' || type === 'email') && profile !== undefined && profile.distinct * 2 > profile.records,
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
