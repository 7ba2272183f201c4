// Shows an entity and its records with their values.
import { fetchItems } from '../../../client/fetch-items.ts'
import { formatEntity } from '../../../format/entity.ts'
import { pageOptions, selectItems } from '../../../options/page-options.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { formatTable, type OutputRow, paragraph_break, printResult } from '../../../terminal/output.ts'
import { describeItems } from '../../../terminal/print-items.ts'

export const definition = command({
  words: 'resolve entity show',
  summary: 'Show an entity and its records',
  positionals: { entity: required(text('ENTITY', 'ID of the entity')) },
  options: { ...pageOptions, ...serviceOptions },
  example: 'platform resolve entity show ent_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const entity = await api.call('resolution.entity-cluster.get', { uid: params.entity })
    const input = { uid: params.entity }
    const page = await fetchItems(api, 'resolution.entity-record.list', input, selectItems(params))
    const { items: records, ...counted } = page
    printResult(terminal, params.json, { entity, records, ...counted }, () => {
      const table = formatTable(terminal, records, columns, 'the entity has no records')
      return `${formatEntity(terminal, entity)}${paragraph_break}${table}`
    })
    if (!params.json) terminal.note(describeItems(page))
    return 0
  },
})

type RecordItem = {
  readonly ref: { readonly node_id: string; readonly record_id: string }
  readonly values: Readonly<Record<string, string>>
}

const columns = [
  { heading: 'record', cell: (row: OutputRow) => formatRecord(row) },
  { heading: 'values', cell: (row: OutputRow) => formatValues(row) },
]

function formatRecord(row: OutputRow): string {
  const { ref } = row as unknown as RecordItem
  return `${ref.node_id}/${ref.record_id}`
}

function formatValues(row: OutputRow): string {
  const { values } = row as unknown as RecordItem
  return Object.entries(values)
    .map(([field, value]) => `${field}=${value}`)
    .join(', ')
}
