// Lists messages of a peer that arrived and cannot be applied yet, and what each waits for.
import type { WaitingMessage } from '../../../daemon/kernel/messaging/waiting-message.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop waiting',
  summary: 'List messages of a peer that cannot be applied yet',
  notes: [
    'A message waits for a missing number, for the announcement of its epoch, or for a role that this site does not',
    'run. It goes to quarantine when it expires. `platform filedrop skip` gives missing numbers up, `platform',
    'filedrop discard` quarantines waiting messages.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'Peer that sent the messages')) },
  options: { ...serviceOptions },
  example: 'platform filedrop waiting bravo',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items: WaitingMessage[] = []
    let cursor: string | undefined
    do {
      const page = await api.call('site.message.list', { peer: params.peer, limit: 500, cursor })
      items.push(...(page.items as readonly WaitingMessage[]))
      cursor = page.next_cursor as string | undefined
    } while (cursor !== undefined)
    printResult(terminal, params.json, { items }, () =>
      formatTable(
        terminal,
        items,
        ['epoch', 'seq', 'kind', { heading: 'waits for', cell: formatCause }, 'since', 'expires'],
        'no message waits',
      ),
    )
    return 0
  },
})

function formatCause(row: OutputRow): string {
  const { waits_for, missing, role, epoch } = row as unknown as WaitingMessage
  if (waits_for === 'role') return `role ${role}`
  return waits_for === 'epoch' ? `announcement of epoch ${epoch}` : `number ${missing}`
}
