// Links a signal to an insight that is not closed.
import { changeCommand } from '../../program/change-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal link',
  summary: 'link a signal to an insight',
  notes: 'The insight owns the link: --if-version speaks of the insight.',
  of: 'signal',
  operation: 'intelligence.signal.link-insight',
  options: {
    insight: required(text('INSIGHT', 'the insight’s id')),
    rationale: text('TEXT', 'why; part of its history'),
  },
  example: 'platform signal link sig_… --insight ins_…',
  input: ({ insight: insight_id, rationale }) => ({ insight_id, rationale }),
})
