// Imports a set of artifacts of another site; it is held until two administrators accept it.
import { readInputFile } from '../../file/input-file.ts'
import { formatGuidanceSet } from '../../format/guidance-set.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide import',
  summary: 'Import a set of artifacts of another site; two administrators accept it',
  notes: [
    'The set must be signed for this site by a pinned peer, complete, and newer than the last one that was accepted',
    'from there. Nothing of it is attached before `platform guide set approve`. The same file again changes nothing.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Set from `platform guide export` at the other site')) },
  options: serviceOptions,
  example: 'platform guide import /media/stick/guidance.set',
  async run(params, terminal) {
    const file = Buffer.from(readInputFile(params.file)).toString('base64url')
    const api = await connectService(params, terminal)
    const set = await api.call('gateway.guide.set.import', { file })
    printResult(terminal, params.json, set, () => formatGuidanceSet(terminal, set))
    if (!params.json) terminal.note(`Look at it with \`platform guide set show ${set.id}\``)
    return 0
  },
})
