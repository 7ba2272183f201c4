// Lists messages of a peer that arrived and cannot be applied yet, and what each waits for.
import type { WaitingMessage } from '../../../daemon/kernel/messaging/waiting-message.ts'
import { listCommand } from '../../program/list-command.ts'
import { required, text } from '../../program/params.ts'
import type { OutputRow } from '../../terminal/output.ts'

export const definition = listCommand({
  words: 'filedrop waiting',
  summary: 'List messages of a peer that cannot be applied yet',
  notes: [
    'A message waits for a missing number, for the announcement of its epoch, or for a role that this site does not',
    'run. It goes to quarantine when it expires. `platform filedrop skip` gives missing numbers up, `platform',
    'filedrop discard` quarantines waiting messages.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'Peer that sent the messages')) },
  example: 'platform filedrop waiting bravo',
  operation: 'site.message.list',
  input: ({ peer }) => ({ peer }),
  columns: ['epoch', 'seq', 'kind', { heading: 'waits for', cell: formatCause }, 'since', 'expires'],
  empty: 'no message waits',
})

function formatCause(row: OutputRow): string {
  const { waits_for, missing, role, epoch } = row as unknown as WaitingMessage
  if (waits_for === 'role') return `role ${role}`
  return waits_for === 'epoch' ? `announcement of epoch ${epoch}` : `number ${missing}`
}
