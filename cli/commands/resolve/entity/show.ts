// Shows an entity, its golden record, and its records with their values.
import { isRefusal } from '../../../../daemon/kernel/error/errors.ts'
import type { ServiceClient } from '../../../client/client.ts'
import { fetchItems } from '../../../client/fetch-items.ts'
import { formatEntity } from '../../../format/entity.ts'
import { formatFieldValues, formatRecordRef } from '../../../format/record.ts'
import { pageOptions, selectItems } from '../../../options/page-options.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { formatTable, type OutputRow, paragraph_break, printResult } from '../../../terminal/output.ts'
import { describeItems } from '../../../terminal/print-items.ts'

export const definition = command({
  words: 'resolve entity show',
  summary: 'Show an entity, its golden record and its records',
  notes: [
    'The golden record has one value of each field: by `survivorship` of the field in the lens, else the most frequent,',
    'then the longest, then that of the first source. HAVE is the number of records with that value, of those with any.',
  ].join('\n'),
  positionals: { entity: required(text('ENTITY', 'ID of the entity')) },
  options: { ...pageOptions, ...serviceOptions },
  example: 'platform resolve entity show ent_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const entity = await api.call('resolution.entity-cluster.get', { uid: params.entity })
    const input = { uid: params.entity }
    const golden = await findGoldenRecord(api, params.entity)
    const page = await fetchItems(api, 'resolution.entity-record.list', input, selectItems(params))
    const { items: records, ...counted } = page
    printResult(
      terminal,
      params.json,
      { entity, ...(golden ? { golden_record: golden.fields } : {}), records, ...counted },
      () => {
        const table = formatTable(terminal, records, columns, 'the entity has no records')
        const survivors = golden
          ? formatTable(terminal, golden.fields as OutputRow[], goldenColumns, 'no record has a value')
          : 'no golden record: the entity has too many records'
        return [formatEntity(terminal, entity), survivors, table].join(paragraph_break)
      },
    )
    if (!params.json) terminal.note(describeItems(page))
    return 0
  },
})

/** Undefined for an entity of too many records, which is shown without it. */
async function findGoldenRecord(api: ServiceClient, uid: string) {
  try {
    return await api.call('resolution.golden-record.get', { uid })
  } catch (error) {
    if (isRefusal(error) && error.code === 'too_large') return undefined
    throw error
  }
}

const goldenColumns = [
  'field',
  'value',
  { heading: 'from', cell: ({ record }: OutputRow) => formatRecordRef(record) },
  'rule',
  { heading: 'have', cell: ({ records, of }: OutputRow) => `${records} of ${of}` },
]

const columns = [
  { heading: 'record', cell: ({ ref }: OutputRow) => formatRecordRef(ref) },
  { heading: 'values', cell: ({ values }: OutputRow) => formatFieldValues(values) },
]
