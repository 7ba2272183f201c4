// Looks the site over and says, for each thing that is wrong, how to mend it.
import { offline } from '../../daemon/boot/offline.ts'
import { command } from '../command.ts'
import { paint, show } from '../output.ts'
import { jsonOption, requireSite, siteOption } from '../site.ts'

const colours = { ok: 'green', warning: 'yellow', problem: 'red' } as const

export const definition = command({
  words: 'doctor',
  summary: 'what is wrong with the site, and how to mend it; exit code 5 when something is',
  notes: 'Warnings are what will be a problem later; they leave the exit code at 0. Works while the site runs or not.',
  options: { ...siteOption, ...jsonOption },
  example: 'platform doctor',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { examine } = await offline.examination()
    const findings = await examine(folder, terminal.env, Date.now(), (text) => terminal.progress(text))
    terminal.progress('')
    const isHealthy = findings.every(({ state }) => state !== 'problem')
    show(terminal, given.json, { healthy: isHealthy, findings }, () =>
      findings
        .flatMap(({ check, state, detail, remedy }) => [
          `${paint(terminal, colours[state], state.padEnd(7))}  ${check.padEnd(12)}  ${detail}`,
          ...(remedy === undefined ? [] : [`${' '.repeat(23)}${remedy}`]),
        ])
        .join('\n'),
    )
    return isHealthy ? 0 : 5
  },
})
