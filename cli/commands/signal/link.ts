// Links a signal to an insight that is not closed.
import { changeCommand } from '../../program/change-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal link',
  summary: 'Link a signal to an insight',
  notes: '--if-version is the version of the insight, which owns the link.',
  object: 'signal',
  operation: 'intelligence.signal.link-insight',
  options: {
    insight: required(text('INSIGHT', 'ID of the insight')),
    rationale: text('TEXT', 'Reason, stored in the history of the signal'),
  },
  example: 'platform signal link sig_… --insight ins_…',
  input: ({ insight: insight_id, rationale }) => ({ insight_id, rationale }),
})
