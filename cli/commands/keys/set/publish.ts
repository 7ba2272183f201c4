// Activates a signed key set; the running site sends it to its peers.
import { offline } from '../../../../daemon/offline/offline.ts'
import { requireConsent } from '../../../confirmation/require-consent.ts'
import { max_key_set_bytes, readInputFile } from '../../../file/input-file.ts'
import { formatKeySet, formatKeySetChanges } from '../../../format/key-set.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys set publish',
  summary: 'Publish a signed key set to the peers',
  notes: [
    'The running site sends it to every peer. A peer that no channel reaches takes it from the file of `platform',
    'keys set show --out`.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Signed draft')) },
  options: { yes: flag('Skip the confirmation'), ...siteOption, ...jsonOption },
  example: 'platform keys set publish keyset-2.json',
  async run({ file, yes, ...params }, terminal) {
    const draftText = readInputFile(file, max_key_set_bytes)
    const folder = requireOwnSite(params, terminal)
    const { reviewKeySetDraft, publishKeySet } = await offline.keySets()
    const { draft, set, changes } = await reviewKeySetDraft(draftText)
    terminal.note(formatKeySetChanges(terminal, set, changes))
    await requireConsent(terminal, yes, `Put key set ${set.version} in force?`)
    const published = await publishKeySet(folder, terminal.env, draft, Date.now())
    printResult(terminal, params.json, published, () => formatKeySet(terminal, published))
    return 0
  },
})
