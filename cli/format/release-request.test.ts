// The request that a second person reads before approving it: one line for each field, and none that a reason forges.
import { expect, test } from 'vitest'
import { escapingTerminal } from '../terminal/escaping-terminal.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatReleaseRequest } from './release-request.ts'

test('each field is on a line of its own, and a reason is one line', () => {
  const lines: string[] = []
  const terminal: Terminal = {
    ...{ env: {}, isInteractive: false, canPrompt: false, hasColour: false, width: 120 },
    print: (line) => void lines.push(line),
    note: (line) => void lines.push(line),
    progress: () => undefined,
    prompt: async () => undefined,
    promptSecret: async () => undefined,
    readInput: async () => undefined,
    inputBytes: () => undefined,
  }
  const created = '2026-03-01T00:00:00.000Z'
  const reason = 'a false alarm\nwaiver  NONE'
  const request = { subject: 'ann', waiver: ['SCANNER'], reason, created, label: undefined }
  escapingTerminal(terminal).note(formatReleaseRequest(terminal, request as never))
  expect(lines.join('').split('\n')).toEqual([
    'release requested; another person must approve it:',
    'requested by  ann',
    'waiver        SCANNER',
    'reason        a false alarm\\nwaiver  NONE',
    `created       ${created}`,
  ])
})
