// Says what each step of the public door would do with a request, and why.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { fields, paint, show, table } from '../../output.ts'
import { needed, otherwise, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

const colours = { passes: 'green', stops: 'red', depends: 'yellow' } as const

export const definition = command({
  words: 'proxy check',
  summary: 'say what the public door would do with a request, step by step; exit code 5 when it would not go through',
  notes: 'Sends nothing, and needs no running daemon: the profile and the environment decide.',
  takes: {
    method: needed(text('METHOD', 'as in GET')),
    path: needed(text('PATH', 'as the caller writes it, with the public prefix and the query')),
  },
  options: {
    source: otherwise('198.51.100.1', text('ADDRESS', 'of the caller, as the last trusted hop sees it')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform proxy check GET /public-api/api/v1/report/7',
  async run(given, terminal) {
    const { method, path, source, json } = given
    const { explain } = await offline.door()
    const { judgement, status, steps } = explain(requireSite(given, terminal), terminal.env, {
      ...{ method, target: path, source },
    })
    const { next, reason, rule } = judgement
    const found = {
      goes_on: next === 'read' || next === 'write',
      status,
      reason,
      rule: rule?.name,
      path: judgement.path,
    }
    show(terminal, json, { ...found, steps }, () =>
      [
        table(
          terminal,
          steps.map(({ step, outcome, says }) => ({ step, outcome, says })),
          ['step', 'outcome', 'says'],
          '',
        ),
        fields(terminal, {
          verdict: paint(terminal, found.goes_on ? colours.passes : colours.stops, verdictOf(next, status)),
        }),
      ].join('\n\n'),
    )
    return found.goes_on || next === 'preflight' ? 0 : 5
  },
})

function verdictOf(next: 'deny' | 'preflight' | 'read' | 'write', status: number | undefined): string {
  if (next === 'preflight') return 'answered here, 204'
  return next === 'deny' ? `denied, ${status}` : 'goes on to the platform'
}
