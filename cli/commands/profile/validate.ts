// Judges a profile: every fault with its place, before a daemon meets it.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { paint, show } from '../../output.ts'
import { text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'profile validate',
  summary: 'check a profile; exit code 5 when it has faults',
  takes: { file: text('FILE', 'the profile; else the site’s own') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform profile validate ./site/profile.yaml',
  async run(given, terminal) {
    const folder = given.file === undefined ? requireSite(given, terminal) : undefined
    const file = folder?.profile ?? resolve(given.file ?? '')
    const [{ profileProblems }, peers] = await Promise.all([offline.profile(), offline.peers()])
    const enrolled = folder ? await peers.list(folder) : []
    const problems = profileProblems(
      file,
      terminal.env,
      enrolled.map((peer) => peer.name),
      Date.now(),
    )
    const isValid = problems.length === 0
    show(terminal, given.json, { file, valid: isValid, problems }, () =>
      isValid
        ? `${paint(terminal, 'green', 'valid')} ${file}`
        : problems.map(({ path, message }) => `${paint(terminal, 'red', path)}: ${message}`).join('\n'),
    )
    return isValid ? 0 : 5
  },
})
