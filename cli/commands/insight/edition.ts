// Adds an edition to an insight, for attestation.

import { createOptions } from '../../options/signal-options.ts'
import { changeCommand } from '../../program/change-command.ts'
import { flag, required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'insight edition',
  summary: 'Add an edition: a version of the findings of an insight',
  object: 'insight',
  operation: 'intelligence.edition.draft',
  options: {
    title: required(text('TEXT', 'Title of the edition')),
    summary: required(text('TEXT', 'Findings of the edition')),
    closes: flag('Close the insight when this edition is attested'),
    ...createOptions,
  },
  example: 'platform insight edition ins_… --title "What we know" --summary "engine trouble" --closes',
  input: ({ title, summary, closes }) => ({ title, summary, closes }),
})
