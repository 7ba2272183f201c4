// Adds an edition to an insight, to be attested.
import { changeCommand } from '../../change-command.ts'
import { flag, needed, text } from '../../params.ts'
import { createOptions } from '../../signal-options.ts'

export const definition = changeCommand({
  words: 'insight edition',
  summary: 'add an edition: what the insight has come to say',
  of: 'insight',
  asks: 'intelligence.edition.draft',
  options: {
    title: needed(text('TEXT', 'what it is about')),
    summary: needed(text('TEXT', 'what it says')),
    closes: flag('its attestation closes the investigation'),
    ...createOptions,
  },
  example: 'platform insight edition ins_… --title "What we know" --summary "engine trouble" --closes',
  input: ({ title, summary, closes }) => ({ title, summary, closes }),
})
