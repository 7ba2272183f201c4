// Finds the entity of a record by its lens, its node and its id there.
import { formatEntity } from '../../../format/entity.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve entity find',
  summary: 'Find the entity that a record belongs to',
  positionals: {
    node: required(text('NODE', 'Node of the record')),
    record: required(text('RECORD', 'ID of the record at its node')),
  },
  options: { lens: required(text('LENS', 'Name of the lens')), ...serviceOptions },
  example: 'platform resolve entity find east A048 --lens persons',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { lens, node: node_id, record: record_id } = params
    const entity = await api.call('resolution.entity.find', { lens, node_id, record_id })
    printResult(terminal, params.json, entity, () => formatEntity(terminal, entity))
    return 0
  },
})
