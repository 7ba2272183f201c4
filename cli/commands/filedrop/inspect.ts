// Shows what a message file says, verifying nothing.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { colourText, escapeControls, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop inspect',
  summary: 'what a message says, unverified',
  notes: 'Believe none of it: `platform filedrop verify` tells whether it is true.',
  positionals: { file: required(text('FILE', 'the envelope or the body; the other half must lie beside it')) },
  options: { ...jsonOption },
  example: 'platform filedrop inspect in/quarantine/00000001-0000000000000007-1a2b3c4d.env.json',
  async run({ file, json }, terminal) {
    const { inspectMessageFile } = await offline.filedrop()
    const said = inspectMessageFile(file)
    printResult(terminal, json, said, () =>
      [
        colourText(terminal, 'yellow', 'unverified'),
        escapeControls(JSON.stringify(said.unverified, undefined, 2)),
        ...said.faults.map(({ reason, detail }) => `${colourText(terminal, 'red', reason)}: ${escapeControls(detail)}`),
      ].join('\n'),
    )
    return 0
  },
})
