// Looks one record up in the registry of the service: which entities it may belong to, and why.
import { command, Failure } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { show, table } from '../../output.ts'
import { needed, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve lookup',
  summary: 'look one record up: the entities that it may belong to',
  takes: { file: needed(text('FILE', 'the record, a JSON object of column to value; - reads standard input')) },
  options: {
    lens: text('LENS', 'uid or name of the lens; the one in use unless said'),
    type: text('TYPE', 'kind of entity whose lens in use is meant'),
    node: text('NODE', 'the node that the record is of'),
    limit: otherwise(5, whole('COUNT', 'at most so many entities', 1, 20)),
    ...serviceOptions,
  },
  example: 'platform resolve lookup record.json',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { lens: lens_id, type: entity_type, node: node_id, limit } = given
    const record = recordIn(given.file)
    const found = await api.call('resolution.entity.lookup', { record, lens_id, entity_type, node_id, limit })
    const { entities } = found as { entities: Row[] }
    const rows = entities.map(({ record: like, bits, ...rest }) => {
      return { ...rest, bits: bits.toFixed(2), like: `${like.node_id}/${like.record_id}` }
    })
    const columns = ['entity', 'size', 'bits', 'above_cut', 'like']
    show(terminal, given.json, found, () => table(terminal, rows, columns, 'it is like none of them'))
    return 0
  },
})

type Row = {
  readonly entity: string
  readonly size: number
  readonly bits: number
  readonly above_cut: boolean
  readonly record: { readonly node_id: string; readonly record_id: string }
}

/** From a file, so that what it says of somebody is in no list of processes. */
function recordIn(file: string): unknown {
  try {
    return JSON.parse(readInputFile(file))
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(1, `${file} is no JSON`)
  }
}
