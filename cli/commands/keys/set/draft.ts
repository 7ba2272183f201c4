// Writes the site's next key set, for its root keys to sign.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { readInputFile } from '../../../input-file.ts'
import { changesText } from '../../../key-set-text.ts'
import { show } from '../../../output.ts'
import { writeOutputFile } from '../../../output-file.ts'
import { duration, names, needed, text, whole } from '../../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys set draft',
  summary: 'write the next key set, for the root keys to sign',
  notes: [
    'It lists the public message and root keys of the site as they are now. Carry the file to the machine of each root key,',
    'sign it there (`platform keys set sign`), bring it back and publish it (`platform keys set publish`).',
  ].join('\n'),
  options: {
    out: needed(text('FILE', 'write it there, where no file may be yet')),
    messageThreshold: whole(
      'COUNT',
      'distinct message keys that must sign a message; else as before, at first 1',
      1,
      16,
    ),
    rootThreshold: whole('COUNT', 'distinct root keys that must sign a key set; else as before, at first 1', 1, 16),
    retire: names('KEY,...', 'message keys that end after the overlap, root keys that sign no more'),
    revoke: names('KEY,...', 'root keys that others may have'),
    overlap: duration('TIME', 'that retired message keys go on; else twice the longest time under way'),
    roots: names('FILE,...', 'public root keys that lie elsewhere, made by `platform keys export --dir` there'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys set draft --retire message-Jx3… --out keyset-2.json',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { draft } = await offline.keySets()
    const made = await draft(folder, terminal.env, {
      message_threshold: given.messageThreshold,
      root_threshold: given.rootThreshold,
      retire: given.retire,
      revoke: given.revoke,
      overlap_s: given.overlap,
      roots: given.roots.map(readInputFile),
      now: Date.now(),
    })
    writeOutputFile(given.out, `${JSON.stringify(made.draft, undefined, 2)}\n`)
    const { set, changes } = made
    show(terminal, given.json, { file: given.out, set, changes }, () => changesText(terminal, set, changes))
    return 0
  },
})
