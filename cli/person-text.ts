// An enrolled person as people read it.
import type { Person } from '../daemon/kernel/person.ts'
import { keyColumns } from './key-text.ts'
import { fields, table } from './output.ts'
import type { Terminal } from './terminal.ts'

export function personText(terminal: Terminal, { keys, ...person }: Person): string {
  return `${fields(terminal, person)}\n\n${table(terminal, keys, keyColumns, 'no keys')}`
}
