// Lists entities that share values, such as an address or a telephone number, with an entity.
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { integer, nameList, required, text, withDefault } from '../../../program/params.ts'
import { formatTable, type OutputRow, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve entity related',
  summary: 'List the entities that share values of some fields with an entity',
  notes: [
    'Entities are listed with the values that they share, most first. A value of more than 200 records, such as the number',
    'of a switchboard, is counted and relates no entities.',
  ].join('\n'),
  positionals: { entity: required(text('ENTITY', 'ID of the entity')) },
  options: {
    by: required(nameList('FIELDS', 'Fields of the lens, separated by commas')),
    limit: withDefault(50, integer('COUNT', 'Maximum number of entities', 1, 500)),
    ...serviceOptions,
  },
  example: 'platform resolve entity related ent_… --by street,postcode',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { entity: uid, by, limit } = params
    const answer = await api.call('resolution.entity.related', { uid, by: by.join(','), limit })
    const { entities, total, common, left_out } = answer as unknown as RelatedAnswer
    printResult(terminal, params.json, answer, () =>
      formatTable(terminal, entities, columns, 'no other entity shares a value'),
    )
    if (params.json) return 0
    if (total > entities.length) terminal.note(`${entities.length} of ${total}: raise --limit`)
    for (const { field, value, records } of common)
      terminal.note(`${field}=${value} is a value of ${records} records, and relates no entities`)
    if (left_out.records > 0) terminal.note(`${left_out.records} records of the entity were not compared`)
    if (left_out.values > 0) terminal.note(`${left_out.values} values of the entity were not compared`)
    if (left_out.sharing > 0) terminal.note(`${left_out.sharing} records that share a value were not read`)
    return 0
  },
})

type SharedItem = { readonly field: string; readonly value: string; readonly records: number }
type RelatedAnswer = {
  readonly entities: readonly OutputRow[]
  readonly total: number
  readonly common: readonly SharedItem[]
  readonly left_out: { readonly records: number; readonly values: number; readonly sharing: number }
}

const columns = [
  'entity',
  'size',
  {
    heading: 'shared',
    cell: ({ shared }: OutputRow) => (shared as readonly SharedItem[]).map(formatShared).join(', '),
  },
]

function formatShared({ field, value, records }: SharedItem): string {
  return `${field}=${value} (${records})`
}
