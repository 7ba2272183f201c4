// Lists signals, the latest detected first.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { choice, instant, text } from '../../params.ts'
import { service } from '../../service.ts'
import { listOptions } from '../../signal-options.ts'
import { signalColumns } from '../../signal-text.ts'

export const definition = command({
  words: 'signal list',
  summary: 'list signals, the latest detected first',
  options: {
    status: choice('STATUS', 'only those in this status', [
      'new',
      'acknowledged',
      'investigating',
      'resolved',
      'dismissed',
    ]),
    severity: choice('SEVERITY', 'only those of this severity', ['critical', 'high', 'medium', 'low', 'info']),
    type: text('TYPE', 'only those of this type'),
    subject: text('ID', 'only those about this subject'),
    since: instant('TIME', 'detected then or later'),
    until: instant('TIME', 'detected before'),
    ...listOptions,
  },
  example: 'platform signal list --status new --severity critical',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { status, severity, type: signal_type, subject: subject_id, since, until } = given
    const filters = { status, severity, signal_type, subject_id, since, until }
    const items = await listed(api, 'intelligence.signal.list', filters, given.limit)
    show(terminal, given.json, { items }, () => table(terminal, items, signalColumns, 'there are no such signals'))
    return 0
  },
})
