// Shows the outcome of each step of the proxy for a request, with the reason.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text, withDefault } from '../../program/params.ts'
import { colourText, formatFields, formatTable, paragraph_break, printResult } from '../../terminal/output.ts'

const outcomeColours = { passes: 'green', stops: 'red', depends: 'yellow' } as const

export const definition = command({
  words: 'proxy check',
  summary: 'Show how the proxy would handle a request, step by step',
  notes: [
    'Sends nothing, and needs no running daemon: the profile and the environment decide. Exit code 5: the request',
    'would be denied.',
  ].join('\n'),
  positionals: {
    method: required(text('METHOD', 'HTTP method, such as GET')),
    path: required(text('PATH', 'Path as the client sends it, with public prefix and query')),
  },
  options: {
    source: withDefault('198.51.100.1', text('ADDRESS', 'Client address, as seen by the last trusted hop')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform proxy check GET /public-api/api/v1/report/7',
  async run(params, terminal) {
    const { method, path, source, json } = params
    const { explainProxyRequest } = await offline.proxyRules()
    const { decision, status, steps } = explainProxyRequest(requireOwnSite(params, terminal), terminal.env, {
      ...{ method, target: path, source },
    })
    const { next, reason, rule } = decision
    const verdict = {
      goes_on: next === 'read' || next === 'write',
      status,
      reason,
      rule: rule?.name,
      path: decision.path,
    }
    printResult(terminal, json, { ...verdict, steps }, () =>
      [
        formatTable(
          terminal,
          steps.map(({ step, outcome, says }) => ({ step, outcome, says })),
          ['step', 'outcome', 'says'],
          '',
        ),
        formatFields(terminal, {
          verdict: colourText(
            terminal,
            verdict.goes_on ? outcomeColours.passes : outcomeColours.stops,
            describeVerdict(next, status),
          ),
        }),
      ].join(paragraph_break),
    )
    return verdict.goes_on || next === 'preflight' ? 0 : 5
  },
})

function describeVerdict(next: 'deny' | 'preflight' | 'read' | 'write', status: number | undefined): string {
  if (next === 'preflight') return 'answered by the proxy, 204'
  return next === 'deny' ? `denied, ${status}` : 'forwarded to the platform'
}
