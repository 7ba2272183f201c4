// Puts a signed key set in force; the running site tells its peers.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { requireConsent } from '../../../consent.ts'
import { readInputFile } from '../../../input-file.ts'
import { changesText, keySetText } from '../../../key-set-text.ts'
import { show } from '../../../output.ts'
import { flag, needed, text } from '../../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys set publish',
  summary: 'put a signed key set in force, and tell the peers',
  notes:
    'The running site sends it to every peer. Whoever is reached by no channel takes it from `platform keys set show --out`.',
  takes: { file: needed(text('FILE', 'the signed draft')) },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform keys set publish keyset-2.json',
  async run({ file, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { read, publish } = await offline.keySets()
    const { draft, set, changes } = await read(readInputFile(file))
    terminal.note(changesText(terminal, set, changes))
    await requireConsent(terminal, yes, `Put key set ${set.version} in force?`)
    const published = await publish(folder, terminal.env, draft, Date.now())
    show(terminal, given.json, published, () => keySetText(terminal, published))
    return 0
  },
})
