// Starts the investigation of an insight; its linked signals go with it.
import { changeCommand } from '../../change-command.ts'

export const definition = changeCommand({
  words: 'insight start',
  summary: 'start the investigation of an insight; its signals follow',
  of: 'insight',
  asks: 'intelligence.insight.start',
  options: {},
  example: 'platform insight start ins_…',
  input: () => ({}),
})
