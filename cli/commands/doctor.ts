// Examines the site and prints a repair for each problem found.
import { offline } from '../../daemon/offline/offline.ts'
import { jsonOption, requireWholeSite, siteOption } from '../options/site-options.ts'
import { command } from '../program/command.ts'
import { colourText, line_break, printResult } from '../terminal/output.ts'

const stateColours = { ok: 'green', warning: 'yellow', problem: 'red' } as const

export const definition = command({
  words: 'doctor',
  summary: 'Diagnose the site and suggest repairs',
  notes: [
    'Exit code 5: a problem was found. A warning announces a later problem and leaves the exit code at 0. Works',
    'whether or not the site runs.',
  ].join('\n'),
  options: { ...siteOption, ...jsonOption },
  example: 'platform doctor',
  async run(params, terminal) {
    const folder = await requireWholeSite(params, terminal)
    const { examineSite } = await offline.doctor()
    const findings = await examineSite(folder, terminal.env, Date.now(), (text) => terminal.progress(text))
    terminal.progress('')
    const isHealthy = findings.every(({ state }) => state !== 'problem')
    printResult(terminal, params.json, { healthy: isHealthy, findings }, () =>
      findings
        .flatMap(({ code, check, state, detail, remedy }) => [
          `${colourText(terminal, stateColours[state], state.padEnd(7))}  ${check.padEnd(12)}  ${detail}${state === 'ok' ? '' : ` [${code}]`}`,
          ...(remedy === undefined ? [] : [`${' '.repeat(23)}${remedy}`]),
        ])
        .join(line_break),
    )
    return isHealthy ? 0 : 5
  },
})
