// Help screen: the keys and the columns.
import type { DetailLine } from './detail.ts'
import { sessionFilters } from './view.ts'

export const helpLines: readonly DetailLine[] = [
  { label: 'KEYS', text: '' },
  { label: 'tab, right', text: 'next pane; shift-tab or left, the one before' },
  { label: 'j, down', text: 'next row; in details, scroll' },
  { label: 'k, up', text: 'row before' },
  { label: 'page up, down', text: 'ten rows; home and end, the first and the last' },
  { label: 'enter', text: 'every field of the row; why a session is in conflict, or a run failed' },
  { label: 'esc', text: 'back' },
  { label: '0', text: 'all sessions; f goes through the filters' },
  ...sessionFilters.map((filter, index) => ({ label: `${index + 1}`, text: `only ${filter}` })),
  { label: 'q, ctrl-c', text: 'quit' },
  { label: 'COLUMNS', text: '' },
  { label: 'HEARD', text: 'contributors so far, of n at most; m are needed' },
  { label: 'DUE', text: 'results, dissents and messages not delivered yet' },
  { label: 'LAST RUN', text: 'state of the newest run of a pipeline; STARTED: when' },
  { label: 'NEXT, HIGHEST', text: 'next expected sequence number, and the highest received; GAPS: missing numbers' },
  { label: 'BACKLOG', text: 'waiting messages; REFUSED: messages in quarantine' },
  { label: 'COUNT', text: 'requests of that kind that the proxy denied since its start, most frequent first' },
  { label: 'LAST FROM', text: 'source of the last of these requests' },
  {
    label: 'GUIDANCE',
    text: 'the curator, services that stopped to emit, proposals that await a decision, scopes, and active artifacts',
  },
  {
    label: 'WITHOUT',
    text: 'of an artifact: times that a cap held it back; of a scope: responses and calls without guidance',
  },
  {
    label: 'TOOLS',
    text: 'of a service: offered tools and resources of the accepted ones; LIST: whether the gateway has read them',
  },
  { label: 'BREAKER', text: 'open: the service is spared; open_for_callers: those whose calls failed wait' },
  { label: 'LEFT', text: 'least that the quotas of a caller leave; REFUSED: calls that guardrails refused' },
  { label: 'GUARDRAIL', text: 'the one that refused a call, newest first, from the audit log' },
]
