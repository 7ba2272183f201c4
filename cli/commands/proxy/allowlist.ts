// Proposes an allowlist from an OpenAPI document, for a person to review.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, keepLayout, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy allowlist',
  summary: 'Propose an allowlist from an OpenAPI document',
  notes: 'Writes a proposal for review; it does not change the profile and allows nothing.',
  options: {
    from: required(text('FILE', 'OpenAPI 3 document, in JSON or YAML')),
    out: text('FILE', 'File to create for the list (default: stdout)'),
    ...jsonOption,
  },
  example: 'platform proxy allowlist --from openapi.json --out allowlist.txt',
  async run({ from, out, json }, terminal) {
    const [{ proposeAllowlistFromFile }, { writeNewFile }] = await Promise.all([
      offline.proxyRules(),
      offline.newFiles(),
    ])
    const { text: list, rules, problems } = proposeAllowlistFromFile(from)
    if (out !== undefined) writeNewFile(out, list)
    printResult(
      terminal,
      json,
      out === undefined ? { rules, problems, text: list } : { rules, problems, file: out },
      () => (out === undefined ? keepLayout(list.trimEnd()) : formatFields(terminal, { rules, file: out })),
    )
    if (!json) for (const problem of problems) terminal.note(problem)
    return 0
  },
})
