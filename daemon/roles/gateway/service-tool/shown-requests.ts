// Requests of a tool for input as the gateway passes them on: people and models see texts of a service that is not trusted.
import { refuse } from '../../../kernel/error/errors.ts'
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import { type InputRequests, InputRequiredResult, inputMethods } from '../../../kernel/tools/client-input.ts'
import type { UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { collectTexts } from '../guardrail/collect-texts.ts'
import { hiddenText } from './findings.ts'

/** Throws `Refusal` for a form or an address with characters that people do not see. */
export function showRequests(service: string, { requests, state, held }: InputRequiredResult): InputRequiredResult {
  const shown = Object.entries(requests).map(([key, { method, params }]) => {
    const isElicitation = method === inputMethods.elicitation
    return [key, { method, params: isElicitation ? nameService(service, params) : limitContext(params) }]
  })
  return new InputRequiredResult(Object.fromEntries(shown) as InputRequests, state, held)
}

/**
 * People see the name of the gateway, and have to know which of its services asks them. Each line names it, and shows the
 * characters that a terminal obeys: a service could hide its name otherwise, or begin a line with that of another.
 */
function nameService(service: string, { message, ...form }: UntrustedObject): UntrustedObject {
  // Not escaped, as the message is: the client sends some of them back.
  if (collectTexts(form).some((text) => hiddenText.test(text)))
    throw refuse('unavailable', `${service} requests input with characters that people do not see`)
  const lines = (typeof message === 'string' ? message : '').split(/\r?\n/)
  return { ...form, message: lines.map((line) => `${service}: ${showLine(line)}`).join('\n') }
}

/** Some scripts and emoji need joiners and U+FE0F. */
function showLine(line: string): string {
  return line
    .split(/(\u200c|\u200d|\ufe0f)/u)
    .map((part, at) => (at % 2 === 1 ? part : escapeLine(part)))
    .join('')
}

/** To a client the context of this server is that of the gateway, with the results of every other service. */
function limitContext({ includeContext: _, ...params }: UntrustedObject): UntrustedObject {
  return params
}
