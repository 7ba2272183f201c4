// Says whether a lens can be used, and what is wrong where.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { show, table } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { jsonOption } from '../../../site.ts'

export const definition = command({
  words: 'resolve lens validate',
  summary: 'check a lens and show what it sees',
  takes: { lens: needed(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')) },
  options: { ...jsonOption },
  example: 'platform resolve lens validate persons',
  async run({ lens, json }, terminal) {
    const { readLens } = await offline.lenses()
    const read = readLens(lens)
    const rows = read.fields.map(({ name, type, columns, optional }) => ({
      field: name,
      type,
      columns: (columns ?? [name]).join(', '),
      needed: optional ? 'no' : 'yes',
    }))
    show(terminal, json, read, () =>
      [
        `${read.lens} ${read.version}: sees ${read.entity_type}s, told by ${read.told_by}, named by ${read.id_field}`,
        table(terminal, rows, ['field', 'type', 'columns', 'needed'], 'no field'),
      ].join('\n\n'),
    )
    return 0
  },
})
