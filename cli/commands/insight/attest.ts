// Attests an edition of an insight.
import { changeCommand } from '../../program/change-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'insight attest',
  summary: 'Attest an edition; a closing edition resolves the signals and closes the insight',
  object: 'insight',
  operation: 'intelligence.edition.attest',
  options: {
    edition: required(text('EDITION', 'ID of the edition')),
    rationale: text('TEXT', 'Reason, stored with the attestation'),
  },
  example: 'platform insight attest ins_… --edition edn_…',
  input: ({ edition: edition_id, rationale }) => ({ edition_id, rationale }),
})
