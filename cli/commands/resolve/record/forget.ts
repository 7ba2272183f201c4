// Forgets a record: its values are erased, and it is never stored again.
import { requireConsent } from '../../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve record forget',
  summary: 'Forget a record: erase its values, and never store it again',
  notes: [
    'Its values leave entities, matches, lookups and arrivals at once, and the files of the role within minutes. Its node and',
    'ID stay, with the time, your name and the reason, so that a run or an arrival leaves it out. Data files that you keep,',
    'backups, snapshots that peers imported and results that were exported still have its values.',
  ].join('\n'),
  positionals: {
    node: required(text('NODE', 'Node of the record')),
    record: required(text('RECORD', 'ID of the record at its node')),
  },
  options: {
    lens: required(text('LENS', 'Name of the lens')),
    reason: required(text('TEXT', 'Reason, kept with the record and in the audit log; do not repeat its values')),
    yes: flag('Skip the confirmation'),
    ...serviceOptions,
  },
  example: 'platform resolve record forget east A048 --lens persons --reason "request 17" --yes',
  async run(params, terminal) {
    const { lens, node: node_id, record: record_id, reason } = params
    await requireConsent(
      terminal,
      params.yes,
      `Forget ${node_id}/${record_id} of ${lens}? Its values cannot be restored.`,
    )
    const api = await connectService(params, terminal)
    const forgotten = await api.call('resolution.entity-record.forget', { lens, node_id, record_id, reason })
    printResult(terminal, params.json, forgotten, () =>
      formatFields(terminal, {
        ...forgotten,
        ref: undefined,
        classification: undefined,
        record: `${node_id}/${record_id}`,
      }),
    )
    return 0
  },
})
