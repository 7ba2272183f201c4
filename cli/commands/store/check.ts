// Checks every page, document and audit record of the site's databases.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireWholeSite, roleOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { colourText, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store check',
  summary: 'Check every page, document and audit record of the databases',
  notes: 'Exit code 5: a database is damaged. Works while the site runs; a large site takes a while.',
  options: { ...roleOption, ...siteOption, ...jsonOption },
  example: 'platform store check',
  async run(params, terminal) {
    const folder = await requireWholeSite(params, terminal)
    const { checkDatabases } = await offline.store()
    const items = await checkDatabases(folder, terminal.env, (text) => terminal.progress(text), params.role)
    terminal.progress('')
    const isSound = items.every(({ faults }) => faults.length === 0)
    printResult(
      terminal,
      params.json,
      { sound: isSound, items },
      () =>
        items
          .flatMap(({ role, faults }) =>
            faults.length === 0
              ? [`${colourText(terminal, 'green', 'sound')} ${role}`]
              : faults.map((fault) => `${colourText(terminal, 'red', 'fault')} ${role}: ${fault}`),
          )
          .join(line_break) || 'the site has no data yet',
    )
    return isSound ? 0 : 5
  },
})
