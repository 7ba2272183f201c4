// Proposes an allowlist from an OpenAPI document, for a person to look through.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { fields, printable, show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { jsonOption } from '../../site.ts'

export const definition = command({
  words: 'proxy allowlist',
  summary: 'propose an allowlist from an OpenAPI document, for review; nothing is allowed by it',
  options: {
    from: needed(text('FILE', 'an OpenAPI 3 document, in JSON or YAML')),
    out: text('FILE', 'a new file for the list; else it is printed'),
    ...jsonOption,
  },
  example: 'platform proxy allowlist --from openapi.json --out allowlist.txt',
  async run({ from, out, json }, terminal) {
    const [{ propose }, { saveNew }] = await Promise.all([offline.door(), offline.newFiles()])
    const { text: list, rules, problems } = propose(from)
    if (out !== undefined) saveNew(out, list)
    show(terminal, json, out === undefined ? { rules, problems, text: list } : { rules, problems, file: out }, () =>
      out === undefined ? printable(list.trimEnd()) : fields(terminal, { rules, file: out }),
    )
    if (!json) for (const problem of problems) terminal.note(printable(problem))
    return 0
  },
})
