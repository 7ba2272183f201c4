// Columns of the panes of a gateway: guidance, services, their tools, quotas of callers, and denials by guardrails.
import type { ApiObject } from '../client/client.ts'
import { formatQuotas } from '../client/guardrail-rows.ts'
import {
  formatFigure,
  formatInstant,
  formatPending,
  formatStateCell,
  formatText,
  type PaneCell,
  type PaneColumnSource,
  plainCell,
  type Tone,
} from './cells.ts'

const ofTools = ({ tools }: ApiObject) => tools as ApiObject | undefined

export const gatewayColumns: Readonly<
  Record<'guidance' | 'services' | 'tools' | 'quotas' | 'decisions', readonly PaneColumnSource[]>
> = {
  guidance: [
    { heading: 'GUIDANCE', width: 14, grows: true, cell: plainCell('name') },
    { heading: 'STATE', width: 10, cell: ({ state }) => formatStateCell(state) },
    { heading: 'TYPE', width: 16, cell: plainCell('type', 'faint') },
    { heading: 'SCORE', width: 6, cell: ({ score }) => ({ text: formatFigure(score) ?? '-' }) },
    { heading: 'CONF', width: 6, cell: ({ confidence }) => ({ text: formatFigure(confidence) ?? '-' }) },
    { heading: 'ATTACHED', width: 8, cell: plainCell('attached') },
    { heading: 'WITHOUT', width: 7, cell: plainCell('without') },
  ],
  services: [
    { heading: 'SERVICE', width: 14, grows: true, cell: plainCell('name') },
    { heading: 'STATE', width: 10, cell: ({ state }) => formatStateCell(state) },
    { heading: 'TOOLS', width: 7, cell: formatOffered },
    { heading: 'LIST', width: 6, cell: (service) => formatStateCell(ofTools(service)?.list) },
    { heading: 'BREAKER', width: 16, cell: formatBreaker },
    { heading: 'ENDS', width: 19, minColumns: 100, cell: ({ expires_at }) => formatTime(expires_at) },
    { heading: 'URL', width: 24, minColumns: 120, cell: plainCell('url', 'faint') },
  ],
  tools: [
    { heading: 'TOOL', width: 20, grows: true, cell: plainCell('offered_as') },
    { heading: 'STATE', width: 10, cell: ({ state }) => formatStateCell(state) },
    { heading: 'PERMISSION', width: 14, cell: plainCell('permission') },
    { heading: 'ACCEPTED BY', width: 11, cell: plainCell('accepted_by', 'faint') },
    { heading: 'HELD', width: 19, minColumns: 100, cell: ({ held_at }) => formatTime(held_at) },
  ],
  quotas: [
    { heading: 'CALLER', width: 12, grows: true, cell: plainCell('subject') },
    { heading: 'TARGET', width: 16, grows: true, cell: plainCell('target') },
    { heading: 'CALLS', width: 7, cell: plainCell('calls') },
    { heading: 'REFUSED', width: 7, cell: ({ refused }) => formatPending(refused) },
    { heading: 'LEFT', width: 7, cell: formatLeft },
    { heading: 'QUOTAS', width: 24, minColumns: 110, grows: true, cell: formatQuotaCell },
  ],
  decisions: [
    { heading: 'TIME', width: 19, cell: ({ at }) => formatTime(at) },
    { heading: 'GUARDRAIL', width: 14, cell: plainCell('guardrail') },
    { heading: 'REASON', width: 9, cell: plainCell('reason') },
    { heading: 'CALLER', width: 9, cell: plainCell('subject') },
    { heading: 'TARGET', width: 14, grows: true, cell: plainCell('target', 'faint') },
  ],
}

function formatTime(instant: unknown): PaneCell {
  return { text: formatInstant(instant), tone: 'faint' }
}

/** Not those of states: an open channel is in order, an open breaker is not. */
const breakerTones: Readonly<Record<string, Tone>> = { closed: 'good', open_for_callers: 'warn' }

function formatBreaker(service: ApiObject): PaneCell {
  const breaker = ofTools(service)?.breaker
  return {
    text: formatText(breaker),
    ...(breaker === undefined ? {} : { tone: breakerTones[String(breaker)] ?? 'bad' }),
  }
}

/** Offered tools of the accepted ones. */
function formatOffered(service: ApiObject): PaneCell {
  const { offered, accepted } = ofTools(service) ?? {}
  if (accepted === undefined) return { text: '-' }
  return { text: `${offered}/${accepted}`, ...(offered === accepted ? {} : { tone: 'warn' as const }) }
}

function formatLeft({ left }: ApiObject): PaneCell {
  return { text: formatText(left), ...(left === 0 ? { tone: 'bad' as const } : {}) }
}

function formatQuotaCell({ quotas }: ApiObject): PaneCell {
  return { text: formatQuotas(quotas) ?? '-', tone: 'faint' }
}
