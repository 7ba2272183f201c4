// Formats an enrolled person.
import type { Person } from '../../daemon/kernel/identity/person.ts'
import { formatFields, formatTable, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { keyColumns } from './key.ts'

export function formatPerson(terminal: Terminal, { keys, ...person }: Person): string {
  return [formatFields(terminal, person), formatTable(terminal, keys, keyColumns, 'no keys')].join(paragraph_break)
}
