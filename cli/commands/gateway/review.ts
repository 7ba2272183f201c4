// Reads the tools and resources of a registered service, beside what has been accepted of them.
import type { ApiObject } from '../../client/client.ts'
import { formatServiceTerms, formatToolReview } from '../../format/tool-review.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, flag, required, text } from '../../program/params.ts'
import { paragraph_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'gateway review',
  summary: 'Read the tools and resources that a registered service lists now, beside what has been accepted of them',
  notes:
    'Lines with - are as they were accepted, with + as they are. A mark is a hint, not a proof: read the definitions.',
  positionals: { name: required(text('NAME', 'Name of the service')) },
  options: {
    authentication: choice(
      'KIND',
      'How to authenticate there (default: as accepted before, else delegated; none for a server of the site)',
      ['delegated', 'none'],
    ),
    changed: flag('Only those that are new, changed or absent'),
    ...serviceOptions,
  },
  example: 'platform gateway review maps --changed',
  async run(params, terminal) {
    const { name, authentication } = params
    const api = await connectService(params, terminal)
    const given = authentication === undefined ? {} : { authentication }
    const answer = await api.call('gateway.service-tool.review', { name, ...given })
    const tools = (answer.tools as ApiObject[]).filter(({ state }) => !params.changed || state !== 'accepted')
    if (answer.trouble !== undefined) terminal.note(`The resources cannot be read: ${answer.trouble}`)
    printResult(terminal, params.json, { ...answer, tools }, () => {
      if (tools.length === 0 && params.changed) return 'nothing has changed'
      const terms = formatServiceTerms(name, answer.authentication, answer.input as string[])
      return [terms, formatToolReview(terminal, tools)].join(paragraph_break)
    })
    return 0
  },
})
