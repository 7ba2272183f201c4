// Prints the JSON Schema of a profile, for editors and other checkers.

import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { keepLayout } from '../../terminal/output.ts'

export const definition = command({
  words: 'profile schema',
  summary: 'Print the JSON Schema of a profile',
  options: { ...jsonOption },
  example: 'platform profile schema > profile.schema.json',
  async run({ json }, terminal) {
    const { buildProfileJsonSchema } = await offline.profile()
    terminal.print(keepLayout(JSON.stringify(buildProfileJsonSchema(), undefined, json ? undefined : 2)))
    return 0
  },
})
