// Shows one refused message: the checks that it passed, the one that it failed, its content, and the next command.
import { offline } from '../../../../daemon/offline/offline.ts'
import { formatDismissalRequest, formatReleaseRequest } from '../../../format/release-request.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { colourText, formatFields, formatTable, keepLayout, line_break, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'filedrop quarantine show',
  summary: 'Show a refused message: its checks, its content, and the next command',
  positionals: { id: required(text('ID', 'Item, as listed by `platform filedrop quarantine list`')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform filedrop quarantine show bravo/00000001-0000000000000007-1a2b3c4d',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const { readQuarantineItem } = await offline.filedrop()
    const item = await readQuarantineItem(folder, terminal.env, params.id, Date.now())
    const { says: content, files, release, dismissal, checks, next, ...fields } = item
    const results = checks ? { passed: checks.passed.join(', ') || 'none that is known', failed: checks.failed } : {}
    printResult(terminal, params.json, item, () =>
      [
        formatFields(terminal, { ...fields, ...results }),
        '',
        formatTable(terminal, files, ['was', 'bytes', 'sha384'], 'no files'),
        ...(release ? ['', formatReleaseRequest(terminal, release)] : []),
        ...(dismissal ? ['', formatDismissalRequest(terminal, dismissal)] : []),
        ...(content
          ? [
              '',
              colourText(terminal, 'yellow', 'content, unverified:'),
              keepLayout(JSON.stringify(content.unverified, undefined, 2)),
            ]
          : []),
        '',
        colourText(terminal, 'bold', 'next:'),
        ...next.map((line) => `  ${line}`),
      ].join(line_break),
    )
    return 0
  },
})
