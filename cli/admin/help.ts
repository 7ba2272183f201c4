// What the keys do and what the columns mean.
import type { DetailLine } from './detail.ts'
import { sessionStates } from './view.ts'

export const helpLines: readonly DetailLine[] = [
  { label: 'KEYS', text: '' },
  { label: 'tab, right', text: 'next pane; shift-tab or left, the one before' },
  { label: 'j, down', text: 'next row; in details, scroll' },
  { label: 'k, up', text: 'row before' },
  { label: 'page up, down', text: 'ten rows; home and end, the first and the last' },
  { label: 'enter', text: 'all that is known of the row; for a session in conflict, why' },
  { label: 'esc', text: 'back' },
  { label: '0', text: 'all sessions; f goes through the states' },
  ...sessionStates.map((state, at) => ({ label: `${at + 1}`, text: `only ${state}` })),
  { label: 'q, ctrl-c', text: 'quit' },
  { label: 'COLUMNS', text: '' },
  { label: 'HEARD', text: 'contributors heard of n, and m that are needed' },
  { label: 'OWED', text: 'results, dissents and messages that are still on their way' },
  { label: 'NEXT, HIGHEST', text: 'sequence number to come, and the highest seen; GAPS: missing' },
  { label: 'BACKLOG', text: 'messages that wait; REFUSED: messages in quarantine' },
  { label: 'COUNT', text: 'requests of that kind that the public door refused since it runs, most often first' },
  { label: 'LAST FROM', text: 'whom the last of them counted for' },
]
