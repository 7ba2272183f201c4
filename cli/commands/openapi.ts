// Prints a role's OpenAPI document without a running service: it follows from the operations alone.
import manifest from '../../package.json' with { type: 'json' }
import { command, Failure } from '../command.ts'
import { flag, needed, text } from '../params.ts'

export const definition = command({
  words: 'openapi',
  summary: 'a role’s interface as an OpenAPI 3.1 document',
  takes: { role: needed(text('ROLE', 'as in consensus')) },
  options: { json: flag('on one line') },
  example: 'platform openapi consensus > consensus.openapi.json',
  async run({ role: name, json }, terminal) {
    const { everyRole } = await import('../../daemon/every-role.ts')
    const role = everyRole.find((known) => known.name === name)
    const known = everyRole.map((each) => each.name).join(', ')
    if (!role) throw new Failure(2, `there is no role "${name}"; there are ${known}`)
    const [{ openapi }, { operationsOf }] = await Promise.all([
      import('../../daemon/kernel/openapi.ts'),
      import('../../daemon/kernel/builtin.ts'),
    ])
    const document = openapi(`platform ${role.name}`, manifest.version, role.purpose, operationsOf(role))
    terminal.print(JSON.stringify(document, undefined, json ? undefined : 2))
    return 0
  },
})
