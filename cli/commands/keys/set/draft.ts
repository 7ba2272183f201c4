// Writes the site's next key set, for its root keys to sign.
import { offline } from '../../../../daemon/offline/offline.ts'
import { readInputFile } from '../../../file/input-file.ts'
import { writeOutputFile } from '../../../file/output-file.ts'
import { formatKeySetChanges } from '../../../format/key-set.ts'
import { jsonOption, requireSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { duration, integer, nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys set draft',
  summary: 'Draft the next key set, for the root keys to sign',
  notes: [
    'Lists the current public message and root keys of the site. Carry the file to the machine of each root key,',
    'sign it there (`platform keys set sign`), bring it back and publish it (`platform keys set publish`).',
  ].join('\n'),
  options: {
    out: required(text('FILE', 'File to create')),
    messageThreshold: integer(
      'COUNT',
      'Distinct message keys that must sign a message (default: unchanged, initially 1)',
      1,
      16,
    ),
    rootThreshold: integer(
      'COUNT',
      'Distinct root keys that must sign a key set (default: unchanged, initially 1)',
      1,
      16,
    ),
    retire: nameList('KEY,...', 'Keys to retire: message keys end after the overlap, root keys at once'),
    revoke: nameList('KEY,...', 'Compromised root keys to revoke'),
    overlap: duration('TIME', 'Time that retired message keys stay active; default: twice the longest transit time'),
    roots: nameList('FILE,...', 'Public root keys that are elsewhere, from `platform keys export --dir` there'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys set draft --retire message-Jx3… --out keyset-2.json',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const { draftKeySet } = await offline.keySets()
    const result = await draftKeySet(folder, terminal.env, {
      message_threshold: params.messageThreshold,
      root_threshold: params.rootThreshold,
      retire: params.retire,
      revoke: params.revoke,
      overlap_s: params.overlap,
      roots: params.roots.map((file) => readInputFile(file)),
      now: Date.now(),
    })
    writeOutputFile(params.out, `${JSON.stringify(result.draft, undefined, 2)}\n`)
    const { set, changes } = result
    printResult(terminal, params.json, { file: params.out, set, changes }, () =>
      formatKeySetChanges(terminal, set, changes),
    )
    return 0
  },
})
