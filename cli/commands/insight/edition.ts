// Adds an edition to an insight, to be attested.

import { createOptions } from '../../options/signal-options.ts'
import { changeCommand } from '../../program/change-command.ts'
import { flag, required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'insight edition',
  summary: 'add an edition: what the insight has come to say',
  of: 'insight',
  operation: 'intelligence.edition.draft',
  options: {
    title: required(text('TEXT', 'what it is about')),
    summary: required(text('TEXT', 'what it says')),
    closes: flag('its attestation closes the investigation'),
    ...createOptions,
  },
  example: 'platform insight edition ins_… --title "What we know" --summary "engine trouble" --closes',
  input: ({ title, summary, closes }) => ({ title, summary, closes }),
})
