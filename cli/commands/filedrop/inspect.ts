// Shows what a message file says, verifying nothing.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { paint, printable, show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { jsonOption } from '../../site.ts'

export const definition = command({
  words: 'filedrop inspect',
  summary: 'what a message says, unverified',
  notes: 'Believe none of it: `platform filedrop verify` tells whether it is true.',
  takes: { file: needed(text('FILE', 'the envelope or the body; the other half must lie beside it')) },
  options: { ...jsonOption },
  example: 'platform filedrop inspect in/quarantine/00000001-0000000000000007-1a2b3c4d.env.json',
  async run({ file, json }, terminal) {
    const { inspect } = await offline.filedrop()
    const said = inspect(file)
    show(terminal, json, said, () =>
      [
        paint(terminal, 'yellow', 'unverified'),
        printable(JSON.stringify(said.unverified, undefined, 2)),
        ...said.faults.map(({ reason, detail }) => `${paint(terminal, 'red', reason)}: ${printable(detail)}`),
      ].join('\n'),
    )
    return 0
  },
})
