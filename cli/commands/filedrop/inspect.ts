// Shows the content of a message file without verifying it.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { colourText, keepLayout, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop inspect',
  summary: 'Show the content of a message, unverified',
  notes: 'Do not trust this output: `platform filedrop verify` checks the message.',
  positionals: { file: required(text('FILE', 'Envelope or body of a message; the other file must be beside it')) },
  options: { ...jsonOption },
  example: 'platform filedrop inspect in/quarantine/00000001-0000000000000007-1a2b3c4d.env.json',
  async run({ file, json }, terminal) {
    const { inspectMessageFile } = await offline.filedrop()
    const inspection = inspectMessageFile(file)
    printResult(terminal, json, inspection, () =>
      [
        colourText(terminal, 'yellow', 'unverified'),
        keepLayout(JSON.stringify(inspection.unverified, undefined, 2)),
        ...inspection.faults.map(({ reason, detail }) => `${colourText(terminal, 'red', reason)}: ${detail}`),
      ].join(line_break),
    )
    return 0
  },
})
