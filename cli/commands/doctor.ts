// Looks the site over and says, for each thing that is wrong, how to mend it.
import { offline } from '../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../options/site-options.ts'
import { command } from '../program/command.ts'
import { colourText, printResult } from '../terminal/output.ts'

const stateColours = { ok: 'green', warning: 'yellow', problem: 'red' } as const

export const definition = command({
  words: 'doctor',
  summary: 'what is wrong with the site, and how to mend it; exit code 5 when something is',
  notes: 'Warnings are what will be a problem later; they leave the exit code at 0. Works while the site runs or not.',
  options: { ...siteOption, ...jsonOption },
  example: 'platform doctor',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { examineSite } = await offline.doctor()
    const findings = await examineSite(folder, terminal.env, Date.now(), (text) => terminal.progress(text))
    terminal.progress('')
    const isHealthy = findings.every(({ state }) => state !== 'problem')
    printResult(terminal, given.json, { healthy: isHealthy, findings }, () =>
      findings
        .flatMap(({ check, state, detail, remedy }) => [
          `${colourText(terminal, stateColours[state], state.padEnd(7))}  ${check.padEnd(12)}  ${detail}`,
          ...(remedy === undefined ? [] : [`${' '.repeat(23)}${remedy}`]),
        ])
        .join('\n'),
    )
    return isHealthy ? 0 : 5
  },
})
