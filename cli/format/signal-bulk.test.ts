// A bulk disposition as people read it says why it ended before all signals were decided.
import { expect, test } from 'vitest'
import { line_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatBulk } from './signal-bulk.ts'

const terminal = { hasColour: false } as Terminal
const bulk = {
  ...{
    uid: 'blk_1',
    state: 'cancelled',
    disposition: 'dismissed',
    rationale: 'a storm',
    classification: { level: 'OPEN' },
  },
  ...{ total: 2, done: 1, refused: 0, cancelled: 1, created_by: 'ann', created_at: '2026-03-02T12:00:00Z' },
  items: [
    { signal_id: 'sig_1', outcome: 'done' },
    { signal_id: 'sig_2', outcome: 'cancelled' },
  ],
}

test('the reason of the site stands beside the counts, and the signals that did not change below', () => {
  const failure = { code: 'forbidden', reason: 'ann was revoked' }
  const text = formatBulk(terminal, { ...bulk, failure }).replaceAll(line_break, '\n')
  expect(text).toMatch(/cancelled +1\n *failure +ann was revoked\n[\s\S]*sig_2 +cancelled/)
  expect(text).not.toContain('sig_1')
})

test('without a failure there is no line for one', () => {
  expect(formatBulk(terminal, bulk)).not.toContain('failure')
})
