// Shows an entity and its records with their values.
import { listAllItems } from '../../../client/client.ts'
import { formatEntity } from '../../../format/entity.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { integer, required, text, withDefault } from '../../../program/params.ts'
import { formatTable, line_break, type OutputRow, paragraph_break, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve entity show',
  summary: 'Show an entity and its records',
  positionals: { entity: required(text('ENTITY', 'ID of the entity')) },
  options: { limit: withDefault(50, integer('COUNT', 'Maximum number of records', 1, 100_000)), ...serviceOptions },
  example: 'platform resolve entity show ent_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const entity = await api.call('resolution.entity-cluster.get', { uid: params.entity })
    const records = await listAllItems(api, 'resolution.entity-record.list', { uid: params.entity }, params.limit)
    printResult(terminal, params.json, { entity, records }, () => {
      const table = formatTable(terminal, records, columns, 'the entity has no records')
      const hidden = Number(entity.size) - records.length
      const rest = hidden > 0 ? `${line_break}${hidden} more: raise --limit` : ''
      return `${formatEntity(terminal, entity)}${paragraph_break}${table}${rest}`
    })
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
