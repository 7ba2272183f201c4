// Looks at every page, document and audit record of the site's databases.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { paint, show } from '../../output.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'store check',
  summary: 'check the databases to the last document; exit code 5 when one is not sound',
  notes: 'Works while the site runs; a large site takes a while.',
  options: { ...siteOption, ...jsonOption },
  example: 'platform store check',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { check } = await offline.store()
    const items = await check(folder, terminal.env, (text) => terminal.progress(text))
    terminal.progress('')
    const isSound = items.every(({ faults }) => faults.length === 0)
    show(
      terminal,
      given.json,
      { sound: isSound, items },
      () =>
        items
          .flatMap(({ role, faults }) =>
            faults.length === 0
              ? [`${paint(terminal, 'green', 'sound')} ${role}`]
              : faults.map((fault) => `${paint(terminal, 'red', 'fault')} ${role}: ${fault}`),
          )
          .join('\n') || 'the site has no data yet',
    )
    return isSound ? 0 : 5
  },
})
