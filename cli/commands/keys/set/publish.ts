// Puts a signed key set in force; the running site tells its peers.
import { offline } from '../../../../daemon/offline/offline.ts'
import { requireConsent } from '../../../confirmation/require-consent.ts'
import { readInputFile } from '../../../file/input-file.ts'
import { formatKeySet, formatKeySetChanges } from '../../../format/key-set.ts'
import { jsonOption, requireSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys set publish',
  summary: 'put a signed key set in force, and tell the peers',
  notes:
    'The running site sends it to every peer. Whoever is reached by no channel takes it from `platform keys set show --out`.',
  positionals: { file: required(text('FILE', 'the signed draft')) },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform keys set publish keyset-2.json',
  async run({ file, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { reviewKeySetDraft, publishKeySet } = await offline.keySets()
    const { draft, set, changes } = await reviewKeySetDraft(readInputFile(file))
    terminal.note(formatKeySetChanges(terminal, set, changes))
    await requireConsent(terminal, yes, `Put key set ${set.version} in force?`)
    const published = await publishKeySet(folder, terminal.env, draft, Date.now())
    printResult(terminal, given.json, published, () => formatKeySet(terminal, published))
    return 0
  },
})
