// Prints what a profile may hold as JSON Schema, for editors and other checkers.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { jsonOption } from '../../site.ts'

export const definition = command({
  words: 'profile schema',
  summary: 'the JSON Schema of a profile',
  options: { ...jsonOption },
  example: 'platform profile schema > profile.schema.json',
  async run({ json }, terminal) {
    const { jsonSchema } = await offline.profile()
    terminal.print(JSON.stringify(jsonSchema(), undefined, json ? undefined : 2))
    return 0
  },
})
