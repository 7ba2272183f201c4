// Validates a profile and lists every fault with its path, before a daemon reads it.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { colourText, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'profile validate',
  summary: 'Validate a profile',
  notes: 'Exit code 5: the profile has faults.',
  positionals: { file: text('FILE', 'Profile (default: the site’s profile)') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform profile validate ./site/profile.yaml',
  async run(params, terminal) {
    const folder = params.file === undefined ? requireOwnSite(params, terminal) : undefined
    const file = folder?.profile ?? resolve(params.file ?? '')
    const [{ listProfileProblems }, peers] = await Promise.all([offline.profile(), offline.peers()])
    const enrolled = folder ? await peers.listPeers(folder) : []
    const problems = await listProfileProblems(
      file,
      terminal.env,
      enrolled.map((peer) => peer.name),
      Date.now(),
    )
    const isValid = problems.length === 0
    printResult(terminal, params.json, { file, valid: isValid, problems }, () =>
      isValid
        ? `${colourText(terminal, 'green', 'valid')} ${file}`
        : problems.map(({ path, message }) => `${colourText(terminal, 'red', path)}: ${message}`).join(line_break),
    )
    return isValid ? 0 : 5
  },
})
