// Connects a key in a security module, by the command that signs with it.

import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { dirOption, resolveKeyLocation } from '../../options/key-location.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, flag, instant, integer, required, text, withDefault } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys connect',
  summary: 'Connect a key in a security module, by a command that signs with it',
  notes: [
    'Tries the command with one signature, and checks it against the public key. Peers learn of the key by the',
    'next key set: `platform keys set draft --out FILE`. docs/signing-commands.md has an example of a command.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Public key, PEM')) },
  options: {
    use: required(choice('USE', 'Use of the key', ['root', 'message'])),
    command: required(text('PROGRAM', 'Absolute path of the command; it gets no arguments')),
    resident: flag('The command answers one request after the other until its input ends'),
    timeLimit: withDefault(10, integer('SECONDS', 'Time that a signature may take', 1, 120)),
    notAfter: instant('TIME', 'Time after which the key no longer signs (default: none)'),
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys connect root.pem --use root --command /usr/local/lib/site/sign-root',
  async run({ file, use, command: program, resident, timeLimit, notAfter, ...params }, terminal) {
    const pem = readInputFile(file)
    const location = resolveKeyLocation(params, terminal, 'may_create')
    const { connectSiteKey } = await offline.connectedKeys()
    const key = await connectSiteKey('dir' in location ? { keys: location.dir } : location.site, terminal.env, {
      ...{ use, pem, now: Date.now(), not_after: notAfter },
      command: { program, resident, time_limit_ms: timeLimit * 1_000 },
    })
    const { jwk: _material, ...fields } = key
    printResult(terminal, params.json, key, () => formatFields(terminal, fields))
    return 0
  },
})
