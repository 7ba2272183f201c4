// Shows one refused message: why it was refused, and what it says.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { fields, paint, printable, show, table } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { releaseText } from '../../../release-text.ts'
import { jsonOption, requireSite, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'filedrop quarantine show',
  summary: 'one refused message: the reason, and what it says',
  takes: { id: needed(text('ID', 'as `platform filedrop quarantine list` names it')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform filedrop quarantine show bravo/00000001-0000000000000007-1a2b3c4d',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { quarantined } = await offline.filedrop()
    const item = await quarantined(folder, terminal.env, given.id, Date.now())
    const { says, files, release, ...about } = item
    show(terminal, given.json, item, () =>
      [
        fields(terminal, about),
        '',
        table(terminal, files, ['was', 'bytes', 'sha384'], 'no files'),
        ...(release ? ['', releaseText(terminal, release)] : []),
        ...(says
          ? [
              '',
              paint(terminal, 'yellow', 'it says, unverified:'),
              printable(JSON.stringify(says.unverified, undefined, 2)),
            ]
          : []),
      ].join('\n'),
    )
    return 0
  },
})
