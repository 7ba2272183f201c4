// Searches the records of a registry file by values of fields, without a service.
import { offline } from '../../../../daemon/offline/offline.ts'
import { formatFieldValues } from '../../../format/record.ts'
import { parseFieldValues } from '../../../options/field-values.ts'
import { runLensOption } from '../../../options/record-file-options.ts'
import { jsonOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { integer, required, rest, text, withDefault } from '../../../program/params.ts'
import { formatTable } from '../../../terminal/output.ts'
import { printItems } from '../../../terminal/print-items.ts'

export const definition = command({
  words: 'resolve registry search',
  summary: 'Search records of a registry file by values of fields',
  notes: [
    'The registry is one that `platform resolve run --registry FILE --keep-records` has written. Values are compared in the',
    'normal form of the lens; one that ends with * is the beginning of a value. In the registry of the service,',
    '`platform resolve lookup` finds the entities that a record may belong to.',
  ].join('\n'),
  options: {
    registry: required(text('FILE', 'Registry of a run')),
    ...runLensOption,
    field: required(rest('FIELD=VALUE', 'One or more fields of the lens with the wanted values')),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...jsonOption,
  },
  example: 'platform resolve registry search --registry entities.jsonl --lens persons --field surname=Szabo',
  async run({ registry: file, lens, field, limit, json }, terminal) {
    const [{ readLens }, { searchRegistryFile }] = await Promise.all([offline.lenses(), offline.registrySearch()])
    const request = { file, lens: readLens(lens), where: parseFieldValues(field), limit }
    const { items, total } = searchRegistryFile(request)
    printItems(terminal, json, { items, total, total_is: 'exact' }, () =>
      formatTable(
        terminal,
        items.map((item) => ({ ...item })),
        ['source', 'id', 'entity', 'size', { heading: 'values', cell: ({ values }) => formatFieldValues(values) }],
        'no record has these values',
      ),
    )
    return 0
  },
})
