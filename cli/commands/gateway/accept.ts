// Accepts tools and resources of a registered service as they are shown.

import type { ApiObject } from '../../client/client.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { formatServiceTerms, formatToolReview } from '../../format/tool-review.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, flag, nameList, required, text } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'

const nothing_new = 'everything that is listed is accepted already; to change how it is called, name it in --tools'

export const definition = command({
  words: 'gateway accept',
  summary: 'Accept tools and resources of a registered service as they are shown, so that the gateway offers them',
  notes: [
    'One whose definition changes later is held until it is accepted again. --yes accepts definitions that nobody has',
    'read, and of those only the ones without marks: name tools with marks in --tools.',
  ].join('\n'),
  positionals: { name: required(text('NAME', 'Name of the service')) },
  options: {
    tools: nameList(
      'TOOL,...',
      'Tools by name, resources by URI, as at the service (default: all that are new or changed)',
    ),
    permission: text(
      'PERMISSION',
      'What callers need for these (default: as accepted before, else that of the profile or gateway:call)',
    ),
    authentication: choice(
      'KIND',
      'How calls to the service authenticate (default: as accepted before, else delegated; none for a server of the site)',
      ['delegated', 'none'],
    ),
    input: nameList(
      'KIND,...',
      'What all tools of the service may request of clients: elicitation, sampling, or none (default: as accepted before, else none)',
    ),
    yes: flag('Skip the confirmation'),
    ...serviceOptions,
  },
  example: 'platform gateway accept maps --tools route,geocode',
  async run(params, terminal) {
    const { name, permission, authentication, yes } = params
    const api = await connectService(params, terminal)
    const given = authentication === undefined ? {} : { authentication }
    const review = await api.call('gateway.service-tool.review', { name, ...given })
    const chosen = chooseTools(review.tools as ApiObject[], params.tools, yes)
    if (chosen.length === 0) {
      printResult(terminal, params.json, { service: name, accepted: [] }, () => nothing_new)
      return 0
    }
    const show = params.json ? terminal.note : terminal.print
    if (review.trouble !== undefined) terminal.note(`The resources cannot be read: ${review.trouble}`)
    const isGiven = params.input.length > 0
    const input = isGiven ? params.input.filter((kind) => kind !== 'none') : (review.input as string[])
    show(formatToolReview(terminal, chosen))
    show(formatServiceTerms(name, review.authentication, input))
    await requireConsent(terminal, yes, `Accept ${chosen.length} tools and resources of ${name} as shown?`)
    const tools = chosen.map(({ name, sha256 }) => ({
      name,
      sha256,
      ...(permission === undefined ? {} : { permission }),
    }))
    const answer = await api.call('gateway.service-tool.accept', {
      ...{ name, url: review.url, authentication: review.authentication },
      ...(isGiven ? { input } : {}),
      tools,
    })
    printResult(terminal, params.json, answer, () =>
      (answer.accepted as string[]).map((accepted) => `accepted ${accepted}`).join(line_break),
    )
    return 0
  },
})

/** Throws `CommandFailure` for a name that the service does not list, and for marks that nobody has looked at. */
function chooseTools(tools: readonly ApiObject[], names: readonly string[], isUnread: boolean): readonly ApiObject[] {
  const listed = tools.filter(({ state }) => state !== 'absent')
  const missing = names.find((name) => !listed.some((tool) => tool.name === name))
  if (missing !== undefined) throw new CommandFailure(1, `the service lists no tool or resource named ${missing}`)
  if (names.length > 0) return listed.filter(({ name }) => names.includes(name as string))
  const open = listed.filter(({ state }) => state !== 'accepted')
  const marked = open.find(({ findings }) => (findings as unknown[]).length > 0)
  if (isUnread && marked)
    throw new CommandFailure(
      3,
      `the definition of ${marked.name} has marks of one that misleads`,
      'read it, and name the tools in --tools',
    )
  return open
}
