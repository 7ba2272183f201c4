// Looks one record up in the registry of the service: the entities that it may belong to, and why.

import { readJsonFile } from '../../file/json-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve lookup',
  summary: 'Look up the entities that a record may belong to',
  positionals: { file: required(text('FILE', 'Record, a JSON object of column to value; - reads stdin')) },
  options: {
    lens: text('LENS', 'Uid or name of the lens (default: the one in use)'),
    type: text('TYPE', 'Entity type, to select its lens in use'),
    node: text('NODE', 'Node of the record'),
    limit: withDefault(5, integer('COUNT', 'Maximum number of entities', 1, 20)),
    ...serviceOptions,
  },
  example: 'platform resolve lookup record.json',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const { lens: lens_id, type: entity_type, node: node_id, limit } = given
    const record = readJsonFile(given.file)
    const found = await api.call('resolution.entity.lookup', { record, lens_id, entity_type, node_id, limit })
    const { entities } = found as { entities: LookupEntityRow[] }
    const rows = entities.map(({ record: like, bits, ...rest }) => {
      return { ...rest, bits: bits.toFixed(2), like: `${like.node_id}/${like.record_id}` }
    })
    const columns = ['entity', 'size', 'bits', 'above_cut', 'like']
    printResult(terminal, given.json, found, () => formatTable(terminal, rows, columns, 'no entity is similar'))
    return 0
  },
})

type LookupEntityRow = {
  readonly entity: string
  readonly size: number
  readonly bits: number
  readonly above_cut: boolean
  readonly record: { readonly node_id: string; readonly record_id: string }
}
