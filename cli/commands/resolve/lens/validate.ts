// Validates a lens and lists its faults with their places.
import { offline } from '../../../../daemon/offline/offline.ts'
import { jsonOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { formatTable, paragraph_break, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve lens validate',
  summary: 'Validate a lens and show its fields',
  positionals: { lens: required(text('LENS', 'Lens file, or a shipped lens: persons, bibliography, products')) },
  options: { ...jsonOption },
  example: 'platform resolve lens validate persons',
  async run({ lens, json }, terminal) {
    const { readLens } = await offline.lenses()
    const document = readLens(lens)
    const rows = document.fields.map(({ name, type, columns, optional }) => ({
      field: name,
      type,
      columns: (columns ?? [name]).join(', '),
      needed: optional ? 'no' : 'yes',
    }))
    printResult(terminal, json, document, () =>
      [
        `${document.lens} ${document.version}: entity type ${document.entity_type}, sources in ${document.told_by}, ids in ${document.id_field}`,
        formatTable(terminal, rows, ['field', 'type', 'columns', 'needed'], 'no field'),
      ].join(paragraph_break),
    )
    return 0
  },
})
