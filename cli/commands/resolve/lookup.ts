// Looks up one record in the registry of the service: the entities that it may belong to, with their scores.

import { readJsonFile } from '../../file/json-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve lookup',
  summary: 'Look up the entities that a record may belong to',
  notes:
    'Looks in the registry of the service. In a registry file of `resolve run`, `platform resolve registry search` finds records without a service.',
  positionals: { file: required(text('FILE', 'Record, a JSON object of column to value; - reads stdin')) },
  options: {
    lens: text('LENS', 'Uid or name of the lens (default: the one in use)'),
    type: text('TYPE', 'Entity type, to select its lens in use'),
    node: text('NODE', 'Node of the record'),
    limit: withDefault(5, integer('COUNT', 'Maximum number of entities', 1, 20)),
    ...serviceOptions,
  },
  example: 'platform resolve lookup record.json',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { lens: lens_id, type: entity_type, node: node_id, limit } = params
    // From a file: other users of the machine can see arguments, and the record may hold personal data.
    const record = readJsonFile(params.file)
    const response = await api.call('resolution.entity.lookup', { record, lens_id, entity_type, node_id, limit })
    const { entities } = response as { entities: LookupEntityRow[] }
    const rows = entities.map(({ record: similar, bits, ...fields }) => {
      return { ...fields, bits: bits.toFixed(2), like: `${similar.node_id}/${similar.record_id}` }
    })
    const columns = ['entity', 'size', 'bits', 'above_cut', 'like']
    printResult(terminal, params.json, response, () => formatTable(terminal, rows, columns, 'no entity is similar'))
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
