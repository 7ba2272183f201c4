// Searches the records of the registry by values of fields, and names their entities.
import { formatFieldValues, formatRecordRef } from '../../../format/record.ts'
import { parseFieldValues } from '../../../options/field-values.ts'
import { listCommand } from '../../../program/list-command.ts'
import { required, rest, text } from '../../../program/params.ts'

export const definition = listCommand({
  words: 'resolve entity search',
  summary: 'Search records by values of fields, and show their entities',
  notes: [
    'Values are compared in the normal form of the lens, so that case, accents and spelling of dates do not matter. All',
    'fields must have their value; one that ends with * is the beginning of a value: --field "surname=Smi*".',
  ].join('\n'),
  options: {
    field: required(rest('FIELD=VALUE', 'One or more fields of the lens with the wanted values')),
    lens: text('LENS', 'Uid or name of the lens (default: the one in use)'),
    type: text('TYPE', 'Entity type, to select its lens in use'),
  },
  operation: 'resolution.entity.search',
  input: ({ field, lens: lens_id, type: entity_type }) => ({ where: parseFieldValues(field), lens_id, entity_type }),
  columns: [
    { heading: 'record', cell: ({ record }) => formatRecordRef(record) },
    'entity',
    'size',
    { heading: 'values', cell: ({ values }) => formatFieldValues(values) },
  ],
  empty: 'no record has these values',
  example: 'platform resolve entity search --lens persons --field surname=Szabo "city=East*"',
})
