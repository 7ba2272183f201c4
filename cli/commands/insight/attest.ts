// Attests an edition of an insight.
import { changeCommand } from '../../program/change-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'insight attest',
  summary: 'attest an edition; one that closes resolves the signals and closes the insight',
  of: 'insight',
  operation: 'intelligence.edition.attest',
  options: {
    edition: required(text('EDITION', 'the edition’s id')),
    rationale: text('TEXT', 'why; kept with it'),
  },
  example: 'platform insight attest ins_… --edition edn_…',
  input: ({ edition: edition_id, rationale }) => ({ edition_id, rationale }),
})
